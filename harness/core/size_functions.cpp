#include "core/size_functions.h"

#include <array>

namespace aotifuzz {
namespace {

struct Row {
  std::string_view name;
  ExprOp op;
  int least, most;  ///< count of arguments; -1: any
};

// Names from sympy's srepr, torch/utils/_sympy/functions.py, its PythonPrinter and Expr::text().
constexpr Row kRows[] = {
    {"Add", ExprOp::kAdd, 1, -1},
    {"Mul", ExprOp::kMul, 1, -1},
    {"Pow", ExprOp::kPow, 2, 2},
    {"PowByNatural", ExprOp::kPow, 2, 2},
    {"FloorDiv", ExprOp::kFloorDiv, 2, 2},
    {"CleanDiv", ExprOp::kFloorDiv, 2, 2},
    {"CeilDiv", ExprOp::kCeilDiv, 2, 2},
    {"ceil_div", ExprOp::kCeilDiv, 2, 2},
    {"Mod", ExprOp::kMod, 2, 2},
    {"PythonMod", ExprOp::kMod, 2, 2},
    {"Max", ExprOp::kMax, 1, -1},
    {"max", ExprOp::kMax, 1, -1},
    {"torch.sym_max", ExprOp::kMax, 1, -1},
    {"Min", ExprOp::kMin, 1, -1},
    {"min", ExprOp::kMin, 1, -1},
    {"torch.sym_min", ExprOp::kMin, 1, -1},
    {"Abs", ExprOp::kAbs, 1, 1},
    {"abs", ExprOp::kAbs, 1, 1},
    {"ModularIndexing", ExprOp::kModularIndexing, 3, 3},
    {"modular_indexing", ExprOp::kModularIndexing, 3, 3},
    {"Where", ExprOp::kWhere, 3, 3},
    {"where", ExprOp::kWhere, 3, 3},
    {"torch.sym_ite", ExprOp::kWhere, 3, 3},
    {"Eq", ExprOp::kEq, 2, 2},
    {"Equality", ExprOp::kEq, 2, 2},
    {"Ne", ExprOp::kNe, 2, 2},
    {"Unequality", ExprOp::kNe, 2, 2},
    {"Lt", ExprOp::kLt, 2, 2},
    {"StrictLessThan", ExprOp::kLt, 2, 2},
    {"Le", ExprOp::kLe, 2, 2},
    {"LessThan", ExprOp::kLe, 2, 2},
    {"Gt", ExprOp::kGt, 2, 2},
    {"StrictGreaterThan", ExprOp::kGt, 2, 2},
    {"Ge", ExprOp::kGe, 2, 2},
    {"GreaterThan", ExprOp::kGe, 2, 2},
    {"And", ExprOp::kAnd, 1, -1},
    {"Or", ExprOp::kOr, 1, -1},
    {"Not", ExprOp::kNot, 1, 1},
    {"torch.sym_not", ExprOp::kNot, 1, 1},
};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (std::string_view candidate : names)
    if (name == candidate) return true;
  return false;
}

Expr opaque_call(std::string_view name, const std::vector<Expr>& args) {
  std::string text(name);
  text += "(";
  for (size_t i = 0; i < args.size(); ++i) text += (i > 0 ? ", " : "") + args[i].text();
  return Expr::opaque(text + ")");
}

bool spend(const Expr& e, int& budget) {
  budget -= 1 + static_cast<int>(e.name().size() / 16);  // an opaque part is one node, but its text counts
  if (budget < 0) return false;
  for (const Expr& arg : e.args())
    if (!spend(arg, budget)) return false;
  return true;
}

}  // namespace

bool is_larger_than(const Expr& e, int nodes) { return !spend(e, nodes); }

Expr SizeFunctions::divide(Expr numerator, Expr denominator) {
  Expr quotient = Expr::opaque("(" + numerator.text() + " / " + denominator.text() + ")");
  divisions_.insert_or_assign(quotient.name(), std::pair(std::move(numerator), std::move(denominator)));
  return quotient;
}

Expr SizeFunctions::rounded(std::string_view name, const Expr& arg) {
  const bool up = is_one_of(name, {"CeilToInt", "ceiling", "math.ceil"});
  const bool toward_zero = is_one_of(name, {"TruncToInt", "math.trunc", "int"});
  if (arg.op() != ExprOp::kOpaque) return arg;
  const auto it = divisions_.find(arg.name());
  if (it == divisions_.end()) return opaque_call(name, {arg});
  const auto& [numerator, denominator] = it->second;
  if (up) return Expr::make(ExprOp::kCeilDiv, {numerator, denominator});
  const Expr down = Expr::make(ExprOp::kFloorDiv, {numerator, denominator});
  if (!toward_zero) return down;
  if (is_larger_than(down, kRepeatedNodesMax)) return opaque_call(name, {arg});
  return Expr::make(ExprOp::kWhere, {Expr::make(ExprOp::kGe, {down, Expr::integer(0)}), down,
                                     Expr::make(ExprOp::kCeilDiv, {numerator, denominator})});
}

Expr SizeFunctions::call(std::string_view name, std::vector<Expr> args) {
  if (args.size() == 1) {
    if (is_one_of(name, {"Identity", "Integer"})) return args[0];
    if (is_one_of(name, {"CeilToInt", "ceiling", "math.ceil", "FloorToInt", "floor", "math.floor", "TruncToInt",
                         "math.trunc", "int"}))
      return rounded(name, args[0]);
  }
  if (args.size() == 2) {
    if (is_one_of(name, {"IntTrueDiv", "FloatTrueDiv"})) return divide(std::move(args[0]), std::move(args[1]));
    if (is_one_of(name, {"LShift", "RShift"})) {
      const Expr factor = Expr::make(ExprOp::kPow, {Expr::integer(2), args[1]});
      return Expr::make(name == "LShift" ? ExprOp::kMul : ExprOp::kFloorDiv, {args[0], factor});
    }
  }
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    const int count = static_cast<int>(args.size());
    if (count < row.least || (row.most >= 0 && count > row.most)) break;
    return Expr::make(row.op, std::move(args));
  }
  return opaque_call(name, args);
}

}  // namespace aotifuzz
