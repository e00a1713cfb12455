#pragma once

#include <string>
#include <vector>

#include "core/contract.h"
#include "package/graph.h"
#include "package/package_info.h"

namespace aotifuzz {

/// The contract that an ExportedProgram declares. What `ep.module()` refuses decides: it checks sizes that are
/// constants or expressions, a range's lower bound above 2 and its upper bound, and every line of guards_code; it
/// accepts sizes 0 and 1 where the range says "2 or more", so a lower bound of exactly 2 is no condition. A declared
/// minimum of 1 stays. Guards that the other conditions imply are dropped. `notes` gets what could not be understood.
Contract build_contract(const Program& program, std::vector<std::string>& notes);

/// Without a program: what the compiled checks enforce. Names are the wrapper's, sizes without a check are free.
Contract build_contract(const CompiledModel& model);

}  // namespace aotifuzz
