#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/kernel_trace.h"

namespace aotifuzz {

/// A trace as the worker sends it and as `aotifuzz trace --json` prints it. Numbers that JSON does not have are text.
nlohmann::json trace_json(const std::vector<TraceCall>& trace);
Result<std::vector<TraceCall>> parse_trace(const nlohmann::json& array);  ///< hostile input is an error, never a crash

}  // namespace aotifuzz
