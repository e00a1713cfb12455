#pragma once

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "gate/size_expr.h"

namespace aotifuzz {

/// A size as the Python process writes it (harness/pack/aotifuzz_pack/size_trees.py): a number, ["sym", index], or
/// [operation, operands...]. What is none of these is an error.
Result<SizeExprPtr> size_from_tree(const nlohmann::json& tree);

}  // namespace aotifuzz
