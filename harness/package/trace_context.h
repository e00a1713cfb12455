#pragma once

#include "core/explanation.h"
#include "package/compile_trace.h"
#include "package/error_recogniser.h"
#include "package/package_info.h"

namespace aotifuzz {

/// Adds what the compile-time trace tells of an error: the guard that asks for a refused size with its model line,
/// where a size that depends on values comes from, and the model's lines of the named kernel where the package has
/// none. Comes after add_package_facts. Never throws.
void add_trace_facts(const CompileTrace& trace, const PackageInfo& package, const RecognisedError& error,
                     Explanation* explanation);

/// Model lines of a kernel as one fact (name, value); nullopt when the trace has none.
std::optional<std::pair<std::string, std::string>> traced_lines(const CompileTrace& trace, const std::string& kernel);

}  // namespace aotifuzz
