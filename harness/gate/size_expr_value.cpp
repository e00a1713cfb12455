#include <algorithm>
#include <cmath>
#include <utility>

#include "gate/size_expr.h"

// What an expression is worth at given values of its symbols.

namespace aotifuzz {
namespace {

using Op = SizeExpr::Op;
using Type = SizeExpr::Type;

int64_t wrapping(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

/// Division by zero gives 0: expressions are evaluated at sizes that their meta never saw.
int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return wrapping(0 - bits(a));
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

}  // namespace

int64_t SizeExpr::integer(const SymbolValues& values) const {
  const auto a = [&] { return operands[0]->integer(values); };
  const auto b = [&] { return operands[1]->integer(values); };
  const bool real_operands =
      !operands.empty() &&
      std::any_of(operands.begin(), operands.end(), [](const SizeExprPtr& e) { return e->type == Type::kFloat; });
  if (real_operands && op != Op::kIfElse) return static_cast<int64_t>(number(values));
  switch (op) {
    case Op::kSymbol:
      return static_cast<size_t>(value) < values.size() ? values[value] : 0;
    case Op::kConstant:
      return type == Type::kFloat ? static_cast<int64_t>(real) : value;
    case Op::kAdd:
      return wrapping(bits(a()) + bits(b()));
    case Op::kSub:
      return wrapping(bits(a()) - bits(b()));
    case Op::kMul:
      return wrapping(bits(a()) * bits(b()));
    case Op::kFloorDiv:
      return floor_div(a(), b());
    case Op::kMod:
      return wrapping(bits(a()) - bits(floor_div(a(), b())) * bits(b()));
    case Op::kMin:
      return std::min(a(), b());
    case Op::kMax:
      return std::max(a(), b());
    case Op::kNeg:
      return wrapping(0 - bits(a()));
    case Op::kEq:
      return a() == b();
    case Op::kNe:
      return a() != b();
    case Op::kLt:
      return a() < b();
    case Op::kLe:
      return a() <= b();
    case Op::kGt:
      return a() > b();
    case Op::kGe:
      return a() >= b();
    case Op::kAnd:
      return a() && b();
    case Op::kOr:
      return a() || b();
    case Op::kNot:
      return !a();
    case Op::kIfElse:
      return a() ? b() : operands[2]->integer(values);
    case Op::kDense:
      return dense(values);
    case Op::kTrueDiv:
    case Op::kPow:
    case Op::kToFloat:
    case Op::kFloor:
    case Op::kCeil:
      return static_cast<int64_t>(number(values));
  }
  return 0;
}

double SizeExpr::number(const SymbolValues& values) const {
  const auto a = [&] { return operands[0]->number(values); };
  const auto b = [&] { return operands[1]->number(values); };
  switch (op) {
    case Op::kConstant:
      return type == Type::kFloat ? real : static_cast<double>(value);
    case Op::kTrueDiv:
      return a() / b();
    case Op::kPow:
      return std::pow(a(), b());
    case Op::kToFloat:
      return a();
    case Op::kFloor:
      return std::floor(a());
    case Op::kCeil:
      return std::ceil(a());
    case Op::kIfElse:
      return operands[0]->integer(values) ? b() : operands[2]->number(values);
    default:
      break;
  }
  const bool real_operands =
      std::any_of(operands.begin(), operands.end(), [](const SizeExprPtr& e) { return e->type == Type::kFloat; });
  if (!real_operands) return static_cast<double>(integer(values));
  switch (op) {
    case Op::kAdd:
      return a() + b();
    case Op::kSub:
      return a() - b();
    case Op::kMul:
      return a() * b();
    case Op::kFloorDiv:
      return std::floor(a() / b());
    case Op::kMod:
      return a() - std::floor(a() / b()) * b();
    case Op::kMin:
      return std::min(a(), b());
    case Op::kMax:
      return std::max(a(), b());
    case Op::kNeg:
      return -a();
    case Op::kEq:
      return a() == b();
    case Op::kNe:
      return a() != b();
    case Op::kLt:
      return a() < b();
    case Op::kLe:
      return a() <= b();
    case Op::kGt:
      return a() > b();
    case Op::kGe:
      return a() >= b();
    default:
      return 0;
  }
}

bool SizeExpr::dense(const SymbolValues& values) const {
  const size_t rank = operands.size() / 2;
  std::vector<std::pair<int64_t, int64_t>> by_stride;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = operands[i]->integer(values);
    if (size == 0) return true;
    if (size != 1) by_stride.emplace_back(operands[rank + i]->integer(values), size);
  }
  std::sort(by_stride.begin(), by_stride.end());
  int64_t expected = 1;
  for (const auto& [stride, size] : by_stride) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

}  // namespace aotifuzz
