#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "worker/device_runtime.h"

namespace aotifuzz {

/// Copies of `tensors` on `device` with the same dtype, sizes, strides and offsets. What shared memory shares it again,
/// also where several storages lie over the same bytes. Whole storages are copied, gaps included. Undefined tensors
/// stay undefined, those without storage are made anew, and those that are there already are returned as they are.
/// `source`: the device that they come from, which knows a quicker way to the host.
std::vector<at::Tensor> copied_to(const std::vector<at::Tensor>& tensors, c10::Device device,
                                  DeviceRuntime* source = nullptr);

/// All bytes of a storage as one flat tensor.
at::Tensor bytes_of(const c10::Storage& storage);

}  // namespace aotifuzz
