#pragma once

#include <ATen/core/Tensor.h>

#include "gate/aten_call.h"

namespace aotifuzz {

/// The same call with tensors of this run's sizes on the CPU: says dtype and order of strides. Nothing of it is noted.
at::Tensor example_result(const AtenCall& call);

/// Strides of a dense tensor of these sizes whose dimensions lie in memory in the order that `like` has.
SymSizes strides_ordered_as(const SymSizes& sizes, const at::Tensor& like);

/// The dispatch key through which calls reach the rules (aten_rules.cpp).
constexpr auto kAtenRulesKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

}  // namespace aotifuzz
