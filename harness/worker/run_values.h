#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <span>
#include <vector>

#include "core/case.h"
#include "worker/materialize.h"

namespace aotifuzz {

/// Fresh values for one run of `c`, numbers included, in the order of its inputs. `inputs` are those of `c`. The
/// tensors among them are also put into `tensors`, undefined for numbers. Devices as in CaseInputs::copies_on().
std::vector<c10::IValue> run_values(const Case& c, const CaseInputs& inputs, std::span<const c10::Device> devices,
                                    DeviceRuntime* runtime, std::vector<at::Tensor>* tensors);

/// What an exception says, without its backtrace.
std::string text_of(const std::exception& error);

}  // namespace aotifuzz
