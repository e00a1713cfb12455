#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "package/package_info.h"

namespace aotifuzz {

/// Adds what the generated wrapper.cpp says to `model`: input and output names, constants, the lines of check_input_N,
/// the symbol lines and calls of run_impl. Tolerant: what is not recognised is ignored, so text of another torch
/// version gives less, never an error. Checks and symbols use the wrapper's own input names ("arg1_1.size(0) >= 2").
void read_wrapper(std::string_view text, CompiledModel& model);

/// Text of a check with the input called `name`.
std::string check_text(const InputCheck& check, std::string_view name);

/// `*_metadata.json` beside the wrapper: device, instruction set, compute capability.
Result<bool> read_compiled_metadata(std::string_view json_text, const std::string& where, CompiledModel& model);

/// kernel_information.json: the FX nodes that each kernel was made from. Adds to kernels that read_wrapper found.
Result<bool> read_kernel_information(std::string_view json_text, const std::string& where, CompiledModel& model);

}  // namespace aotifuzz
