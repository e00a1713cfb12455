#include "gate/size_formula.h"

#include <algorithm>

namespace aotifuzz {
namespace {

using Op = SizeExpr::Op;
using Type = SizeExpr::Type;

/// The parts of operators that take any number of operands are joined from the left.
SizeExprPtr joined(Op op, Type type, const std::vector<SizeExprPtr>& parts) {
  SizeExprPtr out = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) out = SizeExpr::make(op, type, {out, parts[i]});
  return out;
}

int index_of(const std::string& name, const std::vector<SpecSymbol>& symbols) {
  const auto at = std::find_if(symbols.begin(), symbols.end(), [&](const SpecSymbol& s) { return s.name == name; });
  return static_cast<int>(at - symbols.begin());
}

const char* operation_name(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
      return "add";
    case ExprOp::kMul:
      return "mul";
    case ExprOp::kPow:
      return "pow";
    case ExprOp::kNeg:
      return "neg";
    case ExprOp::kFloorDiv:
      return "floordiv";
    case ExprOp::kCeilDiv:
      return "ceildiv";
    case ExprOp::kMod:
      return "mod";
    case ExprOp::kMax:
      return "max";
    case ExprOp::kMin:
      return "min";
    case ExprOp::kAbs:
      return "abs";
    case ExprOp::kModularIndexing:
      return "modular";
    case ExprOp::kWhere:
      return "ite";
    case ExprOp::kEq:
      return "eq";
    case ExprOp::kNe:
      return "ne";
    case ExprOp::kLt:
      return "lt";
    case ExprOp::kLe:
      return "le";
    case ExprOp::kGt:
      return "gt";
    case ExprOp::kGe:
      return "ge";
    case ExprOp::kAnd:
      return "and";
    case ExprOp::kOr:
      return "or";
    case ExprOp::kNot:
      return "not";
    case ExprOp::kInt:
    case ExprOp::kSymbol:
    case ExprOp::kOpaque:
      break;
  }
  return "";
}

SizeExprPtr converted(const Expr& e, const std::vector<SpecSymbol>& symbols) {
  if (e.op() == ExprOp::kInt) return SizeExpr::constant(e.value());
  if (e.op() == ExprOp::kSymbol) {
    return SizeExpr::symbol(index_of(e.name(), symbols));
  }
  std::vector<SizeExprPtr> parts;
  for (const Expr& arg : e.args()) parts.push_back(converted(arg, symbols));
  switch (e.op()) {
    case ExprOp::kAdd:
      return joined(Op::kAdd, Type::kInt, parts);
    case ExprOp::kMul:
      return joined(Op::kMul, Type::kInt, parts);
    case ExprOp::kPow:
      return SizeExpr::make(Op::kPow, Type::kInt, parts);
    case ExprOp::kNeg:
      return SizeExpr::make(Op::kNeg, Type::kInt, parts);
    case ExprOp::kFloorDiv:
      return SizeExpr::make(Op::kFloorDiv, Type::kInt, parts);
    case ExprOp::kCeilDiv:
      // -(-a // b)
      return SizeExpr::make(
          Op::kNeg, Type::kInt,
          {SizeExpr::make(Op::kFloorDiv, Type::kInt, {SizeExpr::make(Op::kNeg, Type::kInt, {parts[0]}), parts[1]})});
    case ExprOp::kMod:
      return SizeExpr::make(Op::kMod, Type::kInt, parts);
    case ExprOp::kMax:
      return joined(Op::kMax, Type::kInt, parts);
    case ExprOp::kMin:
      return joined(Op::kMin, Type::kInt, parts);
    case ExprOp::kAbs:
      return SizeExpr::make(Op::kMax, Type::kInt, {parts[0], SizeExpr::make(Op::kNeg, Type::kInt, {parts[0]})});
    case ExprOp::kModularIndexing:
      return SizeExpr::make(Op::kMod, Type::kInt,
                            {SizeExpr::make(Op::kFloorDiv, Type::kInt, {parts[0], parts[1]}), parts[2]});
    case ExprOp::kWhere:
      return SizeExpr::make(Op::kIfElse, Type::kInt, parts);
    case ExprOp::kEq:
      return SizeExpr::make(Op::kEq, Type::kBool, parts);
    case ExprOp::kNe:
      return SizeExpr::make(Op::kNe, Type::kBool, parts);
    case ExprOp::kLt:
      return SizeExpr::make(Op::kLt, Type::kBool, parts);
    case ExprOp::kLe:
      return SizeExpr::make(Op::kLe, Type::kBool, parts);
    case ExprOp::kGt:
      return SizeExpr::make(Op::kGt, Type::kBool, parts);
    case ExprOp::kGe:
      return SizeExpr::make(Op::kGe, Type::kBool, parts);
    case ExprOp::kAnd:
      return joined(Op::kAnd, Type::kBool, parts);
    case ExprOp::kOr:
      return joined(Op::kOr, Type::kBool, parts);
    case ExprOp::kNot:
      return SizeExpr::make(Op::kNot, Type::kBool, parts);
    case ExprOp::kInt:
    case ExprOp::kSymbol:
    case ExprOp::kOpaque:
      break;
  }
  return SizeExpr::constant(0);  // an opaque part, which specs do not have
}

}  // namespace

nlohmann::json formula_tree(const Expr& formula, const std::vector<SpecSymbol>& symbols) {
  if (formula.op() == ExprOp::kInt) return formula.value();
  if (formula.op() == ExprOp::kSymbol) return nlohmann::json::array({"sym", index_of(formula.name(), symbols)});
  nlohmann::json out = nlohmann::json::array({operation_name(formula.op())});
  for (const Expr& arg : formula.args()) out.push_back(formula_tree(arg, symbols));
  return out;
}

SizeExprPtr size_expr_of(const SpecSize& size, const std::vector<SpecSymbol>& symbols) {
  if (size.formula) return converted(*size.formula, symbols);
  if (size.symbol < 0) return SizeExpr::constant(size.add);
  SizeExprPtr out = SizeExpr::symbol(size.symbol);
  if (size.factor != 1) out = SizeExpr::make(Op::kMul, Type::kInt, {SizeExpr::constant(size.factor), out});
  if (size.add != 0) out = SizeExpr::make(Op::kAdd, Type::kInt, {out, SizeExpr::constant(size.add)});
  return out;
}

}  // namespace aotifuzz
