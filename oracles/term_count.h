#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <cstdint>

#include "oracles/rounding_model.h"

namespace aotifuzz {

/// Number of terms that meet in one result element of a call; an upper bound where the op's arguments do not say.
/// `arguments` in schema order. At least 1 for ops with terms, 0 where a dimension is empty.
int64_t count_terms(Length length, const c10::FunctionSchema& schema, const torch::jit::Stack& arguments);

}  // namespace aotifuzz
