#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/expr.h"
#include "gate/size_expr.h"
#include "store/op_spec.h"

namespace aotifuzz {

/// An expression as the Python process computes it (harness/pack/aotifuzz_pack/fake_calls.py): a number, ["sym", index]
/// or [operation, operands...].
nlohmann::json formula_tree(const Expr& formula, const std::vector<SpecSymbol>& symbols);

/// A size of a spec as what a meta is handed in its place.
SizeExprPtr size_expr_of(const SpecSize& size, const std::vector<SpecSymbol>& symbols);

}  // namespace aotifuzz
