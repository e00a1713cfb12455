#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "package/compile_trace.h"

namespace aotifuzz {

/// The section "compile-time trace" of `inspect`: symbols, specialisations, guards and kernels with the model's lines.
void print_compile_trace(const CompileTrace& trace, std::ostream& out);

nlohmann::ordered_json compile_trace_json(const CompileTrace& trace);

}  // namespace aotifuzz
