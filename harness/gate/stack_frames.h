#pragma once

#include <cstdint>
#include <vector>

#include "store/gate_record.h"

namespace aotifuzz {

/// Return addresses as places in files; those within the program itself, torch and the system's libraries are left out.
/// `first_is_exact`: the innermost one is the address of an instruction, not the one after a call.
std::vector<GateFrame> frames_in_libraries(const std::vector<uint64_t>& addresses, bool first_is_exact);
std::vector<GateFrame> frames_in_libraries(const std::vector<void*>& addresses);

}  // namespace aotifuzz
