#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string_view>

#include "core/case.h"
#include "core/contract.h"

namespace aotifuzz {

/// On a device a wrong index is an assertion, which costs the process. These say before whether there may be one.

/// Does the case have integers at all?
bool may_index(const Case& c);
/// Is every integer input an index, and each of its values one of what it indexes? Then nobody need be asked. `inputs`:
/// the case's tensors on the CPU.
bool indices_fit(const Contract& contract, const Case& c, std::span<const at::Tensor> inputs);
/// Is `text` what an index check on the CPU raises?
bool is_index_error(std::string_view text);

}  // namespace aotifuzz
