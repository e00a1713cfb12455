#pragma once

#include <string>
#include <vector>

#include "package/package_info.h"

namespace aotifuzz {

/// One call of an operator in an exported program.
struct ProgramCall {
  std::string op;       ///< ns::name[.overload]
  std::string node;     ///< of the graph
  std::string line;     ///< as a spec has it (store/op_spec.h); "" = it cannot be said
  std::string why_not;  ///< why: "argument `z` is a complex number"
};

/// The calls of one program but those of ATen's own operators, in the order of the graph, with those within the bodies
/// of conditions and loops.
struct ProgramCalls {
  std::string package;
  std::vector<ProgramCall> calls;
};

/// A line says ranks, dtypes, sizes with export's symbols (the same symbol is the same size), literals, and of the
/// symbols the ranges and whatever conditions of the contract are about them alone. A range's lower bound of 2 is
/// export's assumption and no promise: it becomes 0, as everywhere (package/contract_builder.h). Conditions that tie
/// them to symbols which the call does not have are left out. Throws HarnessError for a package without a program.
ProgramCalls calls_of(const PackageInfo& info);

}  // namespace aotifuzz
