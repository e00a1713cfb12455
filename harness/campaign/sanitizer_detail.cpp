#include "campaign/sanitizer_detail.h"

#include <algorithm>
#include <charconv>

namespace aotifuzz {
namespace {

/// The first address in "Access to 0x4984203a80 is out of bounds".
std::optional<uint64_t> address_in(std::string_view text) {
  const size_t at = text.find("0x");
  if (at == text.npos) return std::nullopt;
  uint64_t address = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 2, end, address, 16);
  return error == std::errc() && stop != text.data() + at + 2 ? std::optional(address) : std::nullopt;
}

MemoryFault::Access access_of(std::string_view what) {
  if (what.find(" read ") != what.npos) return MemoryFault::Access::kRead;
  if (what.find(" write ") != what.npos) return MemoryFault::Access::kWrite;
  return MemoryFault::Access::kUnknown;  // an atomic, which does both
}

const SanitizerError* stray_access(const SanitizerLog& log) {
  for (const SanitizerError& error : log.errors)
    if (error.what.starts_with("Invalid ") && address_in(error.address)) return &error;
  return nullptr;
}

}  // namespace

std::optional<MemoryFault> locate(const SanitizerLog& log, const std::vector<DeviceBuffer>& buffers) {
  const SanitizerError* const error = stray_access(log);
  if (!error) return std::nullopt;
  auto fault = fault_near(buffers, *address_in(error->address), access_of(error->what));
  if (fault) fault->kernel = error->kernel;
  return fault;
}

std::vector<std::pair<std::string, std::string>> sanitizer_measures(const SanitizerLog& log,
                                                                    const std::optional<MemoryFault>& fault) {
  std::vector<std::pair<std::string, std::string>> out;
  // The kernel and its launch are known from the run that pinned the fault down.
  if (fault)
    for (auto& measure : memory_fault_measures(*fault))
      if (measure.first != "kernel") out.push_back(std::move(measure));
  const SanitizerError* error = stray_access(log);
  if (!error && !log.errors.empty()) error = &log.errors.front();
  if (!error) {
    out.emplace_back("compute-sanitizer", log.complete ? "no errors" : "did not end");
    return out;
  }
  out.emplace_back("compute-sanitizer", error->what + (error->kernel.empty() ? "" : " in " + error->kernel));
  if (!error->thread.empty()) out.emplace_back("thread", error->thread);
  if (!error->address.empty()) out.emplace_back("address", error->address);
  if (!error->place.empty()) out.emplace_back("line", error->place);
  return out;
}

void merge_measures(std::vector<std::pair<std::string, std::string>>* measures,
                    const std::vector<std::pair<std::string, std::string>>& news) {
  for (const auto& [name, value] : news) {
    const auto known = std::find_if(measures->begin(), measures->end(),
                                    [&name = name](const auto& measure) { return measure.first == name; });
    if (known != measures->end())
      known->second = value;
    else
      measures->emplace_back(name, value);
  }
}

std::string located_reason(const std::string& reason, const MemoryFault& fault) {
  constexpr std::string_view kUnknown = "the package touches device memory that is not its own";
  if (!reason.starts_with(kUnknown)) return reason;
  const size_t end = reason.find(')');
  return "the package " + memory_fault_sentence(fault) + (end == reason.npos ? "" : reason.substr(end + 1));
}

}  // namespace aotifuzz
