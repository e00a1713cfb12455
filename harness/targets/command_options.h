#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "campaign/duration_text.h"
#include "core/error.h"

namespace aotifuzz {

/// The duration that a flag gives; throws UsageError.
inline std::chrono::milliseconds duration_option(const std::string& flag, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) throw UsageError("not a duration", flag + " " + text, "write it as 20s, 10m, 8h or 1h30m");
  if (duration->count() == 0) throw UsageError("the duration is zero", flag + " " + text, "give at least 1ms");
  return *duration;
}

/// True for "gaps", false for "" and "faults"; throws UsageError.
inline bool fail_on_gaps_option(const std::string& text) {
  if (text == "gaps") return true;
  if (text.empty() || text == "faults") return false;
  throw UsageError("unknown value", "--fail-on " + text, "give faults (the default) or gaps (faults and gaps)");
}

/// Of a path: an empty one (an unset variable of a script) is no wish for the default.
inline CLI::Validator not_empty() {
  return {[](const std::string& path) { return path.empty() ? std::string("it is empty") : std::string(); }, ""};
}

}  // namespace aotifuzz
