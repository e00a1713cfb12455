#pragma once

#include <ATen/core/function_schema.h>

#include <string_view>

namespace aotifuzz {

/// Schema of "aten.add.Tensor" (with or without "torch.ops."); null when the dispatcher does not know it.
const c10::FunctionSchema* find_op_schema(std::string_view target);

}  // namespace aotifuzz
