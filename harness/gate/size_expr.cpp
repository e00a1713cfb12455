#include "gate/size_expr.h"

#include <algorithm>
#include <utility>

#include "gate/symbolic_run.h"

namespace aotifuzz {
namespace {

using Op = SizeExpr::Op;
using Type = SizeExpr::Type;

const char* symbol_of(Op op) {
  switch (op) {
    case Op::kAdd:
      return "+";
    case Op::kSub:
      return "-";
    case Op::kMul:
      return "*";
    case Op::kFloorDiv:
      return "//";
    case Op::kTrueDiv:
      return "/";
    case Op::kMod:
      return "%";
    case Op::kPow:
      return "**";
    case Op::kEq:
      return "==";
    case Op::kNe:
      return "!=";
    case Op::kLt:
      return "<";
    case Op::kLe:
      return "<=";
    case Op::kGt:
      return ">";
    case Op::kGe:
      return ">=";
    case Op::kAnd:
      return "and";
    case Op::kOr:
      return "or";
    default:
      return nullptr;
  }
}

const char* function_of(Op op) {
  switch (op) {
    case Op::kMin:
      return "min";
    case Op::kMax:
      return "max";
    case Op::kNeg:
      return "-";
    case Op::kNot:
      return "not ";
    case Op::kIfElse:
      return "where";
    case Op::kToFloat:
      return "float";
    case Op::kFloor:
      return "floor";
    case Op::kCeil:
      return "ceil";
    default:
      return "dense";
  }
}

/// Samples on which a condition is taken for always true or always false.
constexpr int kSamples = 32;

/// A well-known mixer (splitmix64): samples must be the same in every run.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// What `op` with one constant operand is without computing; null: nothing simpler.
SizeExprPtr simplified(Op op, const std::vector<SizeExprPtr>& operands) {
  if (operands.size() != 2) return {};
  const SizeExprPtr &a = operands[0], &b = operands[1];
  const auto is = [](const SizeExprPtr& e, int64_t v) {
    return e->is_constant_node() && e->type != Type::kFloat && e->value == v;
  };
  switch (op) {
    case Op::kAdd:
      return is(a, 0) ? b : is(b, 0) ? a : SizeExprPtr();
    case Op::kSub:
      return is(b, 0) ? a : SizeExprPtr();
    case Op::kMul:
      return is(a, 1) || is(b, 0) ? b : is(b, 1) || is(a, 0) ? a : SizeExprPtr();
    case Op::kFloorDiv:
      return is(b, 1) ? a : SizeExprPtr();
    case Op::kMax:
      // A stride's factor: max(max(x, 1), 1).
      return is(b, 1) && a->op == Op::kMax && is(a->operands[1], 1) ? a : SizeExprPtr();
    case Op::kAnd:
      return is(a, 0) || is(b, 1) ? a : is(b, 0) || is(a, 1) ? b : SizeExprPtr();
    case Op::kOr:
      return is(a, 1) || is(b, 0) ? a : is(b, 1) || is(a, 0) ? b : SizeExprPtr();
    default:
      return {};
  }
}

}  // namespace

SizeExprPtr SizeExpr::symbol(int index) {
  auto node = c10::make_intrusive<SizeExpr>(Op::kSymbol, Type::kInt);
  node->value = index;
  return node;
}

SizeExprPtr SizeExpr::constant(int64_t value) {
  auto node = c10::make_intrusive<SizeExpr>(Op::kConstant, Type::kInt);
  node->value = value;
  return node;
}

SizeExprPtr SizeExpr::make(Op op, Type type, std::vector<SizeExprPtr> operands) {
  auto node = c10::make_intrusive<SizeExpr>(op, type);
  node->operands = std::move(operands);
  const auto constant_operand = [](const SizeExprPtr& e) { return e->is_constant_node(); };
  if (std::all_of(node->operands.begin(), node->operands.end(), constant_operand)) {
    auto folded = c10::make_intrusive<SizeExpr>(Op::kConstant, type);
    if (type == Type::kFloat)
      folded->real = node->number({});
    else
      folded->value = node->integer({});
    return folded;
  }
  if (type != Type::kFloat)
    if (SizeExprPtr simple = simplified(op, node->operands); simple && simple->type == type) return simple;
  return node;
}

SizeExprPtr SizeExpr::of(const c10::SymInt& size) {
  if (const auto number = size.maybe_as_int()) return constant(*number);
  return of(size.toSymNode());
}

SizeExprPtr SizeExpr::of(const c10::SymNode& node) {
  if (auto* ours = dynamic_cast<SizeExpr*>(node.get())) return SizeExprPtr::reclaim_copy(ours);
  if (const auto number = node->constant_int()) return constant(*number);
  TORCH_CHECK(false, "a symbolic number that does not come from the gate: ", node->str());
}

c10::SymInt SizeExpr::as_sym_int() {
  if (is_constant_node()) return c10::SymInt(value);
  return c10::SymInt(c10::SymNode(self()));
}

std::string SizeExpr::text(const std::vector<std::string>& names) const {
  if (op == Op::kSymbol) return static_cast<size_t>(value) < names.size() ? names[value] : "s" + std::to_string(value);
  if (op == Op::kConstant) {
    if (type == Type::kBool) return value ? "true" : "false";
    return type == Type::kFloat ? std::to_string(real) : std::to_string(value);
  }
  if (const char* infix = symbol_of(op))
    return "(" + operands[0]->text(names) + " " + infix + " " + operands[1]->text(names) + ")";
  std::string out = std::string(function_of(op)) + "(";
  for (size_t i = 0; i < operands.size(); ++i) out += (i ? ", " : "") + operands[i]->text(names);
  return out + ")";
}

void SizeExpr::collect_constants(std::set<int64_t>* out) const {
  if (op == Op::kConstant && type == Type::kInt) out->insert(value);
  for (const SizeExprPtr& operand : operands) operand->collect_constants(out);
}

void SizeExpr::collect_symbols(std::set<int>* out) const {
  if (op == Op::kSymbol) out->insert(static_cast<int>(value));
  for (const SizeExprPtr& operand : operands) operand->collect_symbols(out);
}

std::optional<bool> SizeExpr::known() const {
  if (is_constant_node()) return value != 0;
  std::set<int> symbols;
  collect_symbols(&symbols);
  if (symbols.empty()) return integer({}) != 0;
  const SymbolValues least = SymbolicRun::least_values();
  const size_t count = static_cast<size_t>(*symbols.rbegin()) + 1;
  bool seen[2] = {false, false};
  const auto differs = [&](const SymbolValues& values) {
    seen[integer(values) != 0] = true;
    return seen[0] && seen[1];
  };
  for (int sample = 0; sample < kSamples; ++sample) {
    SymbolValues values(count);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t drawn = mixed(static_cast<uint64_t>(sample) * 64 + i);
      const int64_t offset = sample < 3    ? sample
                             : sample < 12 ? static_cast<int64_t>(drawn % 4)
                                           : static_cast<int64_t>(drawn % 5000);
      values[i] = (i < least.size() ? least[i] : 0) + offset;
    }
    if (differs(values)) return std::nullopt;
  }
  // A condition changes near the constants in it, which chance does not meet.
  std::set<int64_t> constants;
  collect_constants(&constants);
  for (const int64_t constant : constants)
    for (const int symbol : symbols)
      for (const int64_t value : {constant - 1, constant, constant + 1, 2 * constant + 1}) {
        SymbolValues values(count, 7);
        for (size_t i = 0; i < least.size() && i < count; ++i) values[i] = std::max<int64_t>(least[i], 7);
        values[symbol] = value;
        const bool legal = value >= (static_cast<size_t>(symbol) < least.size() ? least[symbol] : 0);
        if (legal && differs(values)) return std::nullopt;
      }
  return seen[1];
}

c10::SymNode SizeExpr::arithmetic(Op op, const c10::SymNode& other) {
  SizeExprPtr right = of(other);
  const bool real_result = type == Type::kFloat || right->type == Type::kFloat;
  return make(op, real_result ? Type::kFloat : Type::kInt, {self(), std::move(right)});
}

c10::SymNode SizeExpr::sym_ite(const c10::SymNode& yes, const c10::SymNode& no) {
  SizeExprPtr chosen = of(yes);
  const Type result = chosen->type;
  return make(Op::kIfElse, result, {self(), std::move(chosen), of(no)});
}

c10::SymNode SizeExpr::wrap_float(double number) {
  auto node = c10::make_intrusive<SizeExpr>(Op::kConstant, Type::kFloat);
  node->real = number;
  return node;
}

c10::SymNode SizeExpr::wrap_bool(bool truth) {
  auto node = c10::make_intrusive<SizeExpr>(Op::kConstant, Type::kBool);
  node->value = truth;
  return node;
}

c10::SymNode SizeExpr::is_non_overlapping_and_dense(c10::ArrayRef<c10::SymNode> sizes,
                                                    c10::ArrayRef<c10::SymNode> strides) {
  std::vector<SizeExprPtr> all;
  for (const c10::SymNode& node : sizes) all.push_back(of(node));
  for (const c10::SymNode& node : strides) all.push_back(of(node));
  return make(Op::kDense, Type::kBool, std::move(all));
}

int64_t SizeExpr::guard_int(const char*, int64_t) {
  if (is_constant_node()) return value;
  return SymbolicRun::note(SizeEvent::Kind::kNumber, self(), "guard_int()");
}

bool SizeExpr::guard_bool(const char*, int64_t) {
  if (const auto always = known()) return *always;
  return SymbolicRun::note(SizeEvent::Kind::kBranch, self(), "") != 0;
}

double SizeExpr::guard_float(const char*, int64_t) {
  if (is_constant_node()) return real;
  SymbolicRun::note(SizeEvent::Kind::kNumber, self(), "guard_float()");
  return number(SymbolicRun::values());
}

bool SizeExpr::expect_true(const char*, int64_t) {
  if (const auto always = known()) return *always;
  return SymbolicRun::note(SizeEvent::Kind::kAssert, self(), "") != 0;
}

std::string SizeExpr::str() { return text(SymbolicRun::names()); }

std::optional<int64_t> SizeExpr::constant_int() {
  if (op == Op::kConstant && type == Type::kInt) return value;
  return std::nullopt;
}

std::optional<bool> SizeExpr::constant_bool() {
  if (op == Op::kConstant && type == Type::kBool) return value != 0;
  return std::nullopt;
}

}  // namespace aotifuzz
