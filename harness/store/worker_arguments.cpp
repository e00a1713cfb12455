#include "store/worker_arguments.h"

#include <charconv>
#include <utility>

namespace aotifuzz {
namespace {

constexpr int kSparesMax = 64;

constexpr std::pair<AllocatorMode, std::string_view> kAllocatorModes[] = {
    {AllocatorMode::kGuard, "guard"}, {AllocatorMode::kCaching, "caching"}, {AllocatorMode::kNoCache, "nocache"}};

constexpr std::pair<TraceLevel, std::string_view> kTraceLevels[] = {
    {TraceLevel::kNames, "names"}, {TraceLevel::kStats, "stats"}, {TraceLevel::kValues, "values"}};

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view allocator_mode_name(AllocatorMode mode) {
  for (const auto& [known, name] : kAllocatorModes)
    if (known == mode) return name;
  return "";
}

std::optional<AllocatorMode> allocator_mode_from_name(std::string_view name) {
  for (const auto& [mode, known] : kAllocatorModes)
    if (known == name) return mode;
  return std::nullopt;
}

std::string_view trace_level_name(TraceLevel level) {
  for (const auto& [known, name] : kTraceLevels)
    if (known == level) return name;
  return "";
}

std::optional<TraceLevel> trace_level_from_name(std::string_view name) {
  for (const auto& [level, known] : kTraceLevels)
    if (known == name) return level;
  return std::nullopt;
}

std::vector<std::string> WorkerArguments::print() const {
  std::vector<std::string> out =
      planted ? std::vector<std::string>{"--planted", "yes"} : std::vector<std::string>{"--package", package};
  if (!model.empty()) out.insert(out.end(), {"--model", model});
  if (!reference.empty()) out.insert(out.end(), {"--reference", reference});
  for (const std::string& library : ops) out.insert(out.end(), {"--ops", library});
  if (memory_mib > 0) out.insert(out.end(), {"--memory-mib", std::to_string(memory_mib)});
  if (!is_guarded()) out.insert(out.end(), {"--allocator", std::string(allocator_mode_name(allocator))});
  if (spares > 0) out.insert(out.end(), {"--spares", std::to_string(spares)});
  if (kernels_every != kKernelsEvery) out.insert(out.end(), {"--kernels-every", std::to_string(kernels_every)});
  if (trace) out.insert(out.end(), {"--trace", std::string(trace_level_name(*trace))});
  for (const std::string& kernel : trace_kernels) out.insert(out.end(), {"--trace-kernel", kernel});
  if (!save.empty()) out.insert(out.end(), {"--save", save});
  if (!device.empty()) out.insert(out.end(), {"--device", device});
  return out;
}

Result<WorkerArguments> parse_worker_arguments(const std::vector<std::string>& arguments) {
  WorkerArguments out;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& flag = arguments[i];
    if (i + 1 == arguments.size()) return parse_error("a flag without a value", flag);
    const std::string& value = arguments[i + 1];
    if (flag == "--package") {
      out.package = value;
    } else if (flag == "--model") {
      out.model = value;
    } else if (flag == "--reference") {
      out.reference = value;
    } else if (flag == "--ops") {
      out.ops.push_back(value);
    } else if (flag == "--memory-mib") {
      const auto mib = parse_int(value);
      if (!mib || *mib < 0) return parse_error("not a number of MiB", flag + " " + value);
      out.memory_mib = *mib;
    } else if (flag == "--allocator") {
      const auto mode = allocator_mode_from_name(value);
      if (!mode) return parse_error("none of guard, caching and nocache", flag + " " + value);
      out.allocator = *mode;
    } else if (flag == "--spares") {
      const auto count = parse_int(value);
      if (!count || *count < 0 || *count > kSparesMax) return parse_error("not a number of spares", flag + " " + value);
      out.spares = static_cast<int>(*count);
    } else if (flag == "--kernels-every") {
      const auto every = parse_int(value);
      if (!every || *every < 0) return parse_error("not a number of cases", flag + " " + value);
      out.kernels_every = *every;
    } else if (flag == "--trace") {
      out.trace = trace_level_from_name(value);
      if (!out.trace) return parse_error("none of names, stats and values", flag + " " + value);
    } else if (flag == "--trace-kernel") {
      out.trace_kernels.push_back(value);
    } else if (flag == "--save") {
      out.save = value;
    } else if (flag == "--device") {
      out.device = value;
    } else if (flag == "--planted") {
      if (value != "yes") return parse_error("only yes is known", flag + " " + value);
      out.planted = true;
    } else {
      return parse_error("unknown flag", flag);
    }
  }
  if (out.package.empty() && !out.planted) return parse_error("no package given", "--package");
  return out;
}

}  // namespace aotifuzz
