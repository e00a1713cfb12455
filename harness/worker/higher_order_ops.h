#pragma once

#include <string_view>

#include "worker/flat_program.h"

namespace aotifuzz {

/// Higher-order ops that the interpreter runs, with the meaning of their eager ("dense") implementations in
/// torch/_higher_order_ops. Table in the .cpp file; nullptr for any other name.
HigherOrderFunction find_higher_order_op(std::string_view name);

}  // namespace aotifuzz
