#pragma once

#include <string_view>

namespace aotifuzz {

/// Ops (op_base() names) that move, select or compare values, or are defined exactly, and those on integers and truth
/// values: nothing rounds. Random ops are here too; what depends on them is not judged.
bool is_exact_op(std::string_view base);

}  // namespace aotifuzz
