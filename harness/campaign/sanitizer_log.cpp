#include "campaign/sanitizer_log.h"

#include <charconv>

namespace aotifuzz {
namespace {

constexpr std::string_view kPrefix = "=========";
/// A wild kernel fills a log; what is past the first errors says the same.
constexpr size_t kErrorsMax = 1'000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// "at kernel(args)+0x1a0 in file.py:25" or "at 0x1a0 in kernel".
void read_place(std::string_view line, SanitizerError& error) {
  line.remove_prefix(3);
  const size_t in = line.find(" in ");
  std::string_view first = trimmed(line.substr(0, in));
  const std::string_view second = in == line.npos ? std::string_view() : trimmed(line.substr(in + 4));
  if (first.starts_with("0x")) {
    error.kernel = second;
    error.place = first;
    return;
  }
  const size_t plus = first.rfind("+0x");
  error.place = plus == first.npos ? std::string() : std::string(first.substr(plus));
  if (!second.empty()) error.place += (error.place.empty() ? "in " : " in ") + std::string(second);
  first = first.substr(0, plus);
  if (const size_t arguments = first.find('('); arguments != first.npos) first = first.substr(0, arguments);
  error.kernel = first;
}

bool starts_error(std::string_view line) {
  for (std::string_view start : {"Invalid ", "Misaligned ", "Uninitialized ", "Error: ", "Warning: ", "Race reported",
                                 "Barrier error", "Malloc/Free error", "Out-of-range", "Stack overflow"})
    if (line.starts_with(start)) return true;
  return false;
}

}  // namespace

SanitizerLog parse_sanitizer_log(std::string_view text) {
  SanitizerLog log;
  SanitizerError current;
  bool open = false;
  const auto finish = [&] {
    if (!open) return;
    open = false;
    for (SanitizerError& known : log.errors)
      if (known.what == current.what && known.kernel == current.kernel && known.place == current.place) {
        ++known.times;
        return;
      }
    if (log.errors.size() < kErrorsMax) log.errors.push_back(current);
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(kPrefix)) continue;
    line = trimmed(line.substr(kPrefix.size()));
    if (const size_t summary = line.find(" SUMMARY: "); summary != line.npos) {  // ERROR, RACECHECK
      finish();
      line.remove_prefix(summary + std::string_view(" SUMMARY: ").size());
      std::from_chars(line.data(), line.data() + line.size(), log.total);
      log.complete = true;
    } else if (starts_error(line)) {
      finish();
      current = {};
      current.what = line;
      open = true;
    } else if (!open) {
      continue;
    } else if (line.empty()) {
      finish();
    } else if (line.starts_with("at ") && current.kernel.empty()) {
      read_place(line, current);
    } else if (line.starts_with("by thread") && current.thread.empty()) {
      current.thread = line.substr(3);
    } else if (line.starts_with("Address ") || line.starts_with("Access to ")) {
      current.address = line;
    } else if (line.starts_with("and is ") || line.find("nearest allocation") != line.npos) {
      current.nearest = line.starts_with("and ") ? line.substr(4) : line;
    }
  }
  finish();
  return log;
}

std::string describe(const SanitizerError& error) {
  std::string out = error.what;
  if (!error.kernel.empty()) out += " in " + error.kernel;
  if (!error.place.empty()) out += (error.place.front() == '+' ? "" : " ") + error.place;
  if (!error.thread.empty()) out += ", " + error.thread;
  if (!error.address.empty()) out += "; " + error.address;
  if (!error.nearest.empty()) out += ", " + error.nearest;
  if (error.times > 1) out += " (" + std::to_string(error.times) + " threads)";
  return out;
}

}  // namespace aotifuzz
