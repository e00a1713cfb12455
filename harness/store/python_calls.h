#pragma once

#include <string>
#include <vector>

#include "core/case.h"

namespace aotifuzz {

/// The parts of a Python reproducer for cases that are more than one call (core/case.h): each is "" where the case has
/// none of it. They use the names that the rest of the reproducer defines (compiled, make_inputs, attempt, runs,
/// found).
struct PythonCalls {
  std::string makers;     ///< functions that make the inputs of further calls
  std::string constants;  ///< gives package and program other weights, once both are there
  std::string between;    ///< the further calls; stands in a loop body, before the second run
  std::string callers;    ///< the calls from several threads, after the runs
  std::string many;       ///< many runs, with the memory in use before and after
};

/// `then_python`: python_inputs() of each further call. `result`: the text that ends a function that makes inputs.
/// `has_eager`: there is a `program`.
PythonCalls python_calls(const Case& c, const std::vector<std::string>& then_python, const std::string& result,
                         bool has_eager);

/// `text` with each line moved in by a level.
std::string indented(const std::string& text);

}  // namespace aotifuzz
