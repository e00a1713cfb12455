#pragma once

#include <functional>
#include <memory>
#include <string>

#include "gate/gate_device.h"

namespace aotifuzz {

/// The main function of a gate's worker: reads its arguments, serves, and ends the process, since libraries stay loaded
/// and their destructors are not ours to run. `device_of`, where it is not null, makes the device of --device.
[[noreturn]] void run_gate_worker_program(
    int argc, char** argv, const std::function<std::unique_ptr<GateDevice>(const std::string& name)>& device_of);

}  // namespace aotifuzz
