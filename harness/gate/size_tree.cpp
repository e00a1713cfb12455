#include "gate/size_tree.h"

#include <string>

namespace aotifuzz {
namespace {

using nlohmann::json;
using Op = SizeExpr::Op;
using Type = SizeExpr::Type;

/// Deeper ones do not come from sizes.
constexpr int kDepthMax = 200;

struct Operation {
  const char* name;
  Op op;
  Type type;
  size_t operands;  ///< exactly so many; 0 = two or more, taken from the left
};
constexpr Operation kOperations[] = {
    {"add", Op::kAdd, Type::kInt, 0},
    {"mul", Op::kMul, Type::kInt, 0},
    {"floordiv", Op::kFloorDiv, Type::kInt, 2},
    {"mod", Op::kMod, Type::kInt, 2},
    {"max", Op::kMax, Type::kInt, 0},
    {"min", Op::kMin, Type::kInt, 0},
    {"pow", Op::kPow, Type::kInt, 2},
    {"eq", Op::kEq, Type::kBool, 2},
    {"ne", Op::kNe, Type::kBool, 2},
    {"lt", Op::kLt, Type::kBool, 2},
    {"le", Op::kLe, Type::kBool, 2},
    {"gt", Op::kGt, Type::kBool, 2},
    {"ge", Op::kGe, Type::kBool, 2},
    {"and", Op::kAnd, Type::kBool, 0},
    {"or", Op::kOr, Type::kBool, 0},
    {"not", Op::kNot, Type::kBool, 1},
    {"ite", Op::kIfElse, Type::kInt, 3},
    {"truediv", Op::kTrueDiv, Type::kFloat, 2},
    {"float", Op::kToFloat, Type::kFloat, 1},
    {"floor", Op::kFloor, Type::kInt, 1},
    {"ceil", Op::kCeil, Type::kInt, 1},
};

tl::unexpected<ParseError> wrong(const std::string& what) { return parse_error(what, "a size of a Python fake"); }

Result<SizeExprPtr> parsed(const json& tree, int depth) {
  if (depth > kDepthMax) return wrong("an expression of more than 200 levels");
  if (tree.is_number_integer()) return SizeExpr::constant(tree.get<int64_t>());
  if (!tree.is_array() || tree.size() < 2 || !tree[0].is_string()) return wrong("neither a number nor an operation");
  const std::string name = tree[0];
  if (name == "sym") {
    if (tree.size() != 2 || !tree[1].is_number_unsigned() || tree[1].get<uint64_t>() > 0xffff)
      return wrong("a symbol without an index");
    return SizeExpr::symbol(tree[1].get<int>());
  }
  std::vector<SizeExprPtr> operands;
  bool real = false;
  for (size_t i = 1; i < tree.size(); ++i) {
    auto operand = parsed(tree[i], depth + 1);
    if (!operand) return operand;
    real |= (*operand)->is_float();
    operands.push_back(std::move(*operand));
  }
  for (const Operation& operation : kOperations) {
    if (name != operation.name) continue;
    const bool keeps_type = operation.type == Type::kInt && operation.op != Op::kFloor && operation.op != Op::kCeil;
    const Type type = real && keeps_type ? Type::kFloat : operation.type;
    if (operation.operands > 0) {
      if (operands.size() != operation.operands) return wrong("wrong number of operands of " + name);
      return SizeExpr::make(operation.op, type, std::move(operands));
    }
    SizeExprPtr out = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) out = SizeExpr::make(operation.op, type, {out, operands[i]});
    return out;
  }
  return wrong("unknown operation " + name);
}

}  // namespace

Result<SizeExprPtr> size_from_tree(const json& tree) { return parsed(tree, 0); }

}  // namespace aotifuzz
