#pragma once

#include "oracles/program_facts.h"
#include "package/graph.h"

namespace aotifuzz {

/// Reads off a program what the oracles need to know about it; see ProgramFacts. Costs milliseconds; once per package.
/// In-place ops are followed through views to the inputs and buffers that they write; sub-graphs of higher-order ops
/// are treated as one op that depends on all its operands and has every taint of its nodes.
ProgramFacts build_program_facts(const Program& program);

}  // namespace aotifuzz
