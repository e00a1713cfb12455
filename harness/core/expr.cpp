#include "core/expr.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/check.h"

namespace aotifuzz {
namespace {

std::optional<int64_t> checked_add(int64_t x, int64_t y) {
  int64_t out = 0;
  if (__builtin_add_overflow(x, y, &out)) return std::nullopt;
  return out;
}

std::optional<int64_t> checked_mul(int64_t x, int64_t y) {
  int64_t out = 0;
  if (__builtin_mul_overflow(x, y, &out)) return std::nullopt;
  return out;
}

// Rounds toward minus infinity, as Python's // does.
std::optional<int64_t> floor_div(int64_t x, int64_t y) {
  if (y == 0 || (y == -1 && x == std::numeric_limits<int64_t>::min())) return std::nullopt;
  const int64_t quotient = x / y;
  return (x % y != 0 && (x < 0) != (y < 0)) ? quotient - 1 : quotient;
}

// Sign of the divisor, as Python's % does.
std::optional<int64_t> floor_mod(int64_t x, int64_t y) {
  if (y == 0) return std::nullopt;
  if (y == -1) return 0;
  const int64_t rest = x % y;
  return (rest != 0 && (rest < 0) != (y < 0)) ? rest + y : rest;
}

std::optional<int64_t> power(int64_t base, int64_t exponent) {
  if (exponent < 0) return std::nullopt;
  std::optional<int64_t> result = 1;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (int64_t i = 0; i < exponent && result; ++i) result = checked_mul(*result, base);  // at most 63 rounds
  return result;
}

// How tightly an operator binds when printed; as in Python.
enum Precedence {
  kOrLevel = 1,
  kAndLevel,
  kNotLevel,
  kCompareLevel,
  kSumLevel,
  kTermLevel,
  kUnaryLevel,
  kPowLevel,
  kAtomLevel
};

Precedence level(const Expr& e) {
  switch (e.op()) {
    case ExprOp::kInt:
      return e.value() < 0 ? kUnaryLevel : kAtomLevel;
    case ExprOp::kAdd:
      return kSumLevel;
    case ExprOp::kMul: {
      const bool negates = e.args().size() == 2 && e.args()[0].is_constant() && e.args()[0].value() == -1;
      return negates ? kUnaryLevel : kTermLevel;
    }
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
      return kTermLevel;
    case ExprOp::kNeg:
      return kUnaryLevel;
    case ExprOp::kPow:
      return kPowLevel;
    case ExprOp::kEq:
    case ExprOp::kNe:
    case ExprOp::kLt:
    case ExprOp::kLe:
    case ExprOp::kGt:
    case ExprOp::kGe:
      return kCompareLevel;
    case ExprOp::kNot:
      return kNotLevel;
    case ExprOp::kAnd:
      return kAndLevel;
    case ExprOp::kOr:
      return kOrLevel;
    default:
      return kAtomLevel;
  }
}

std::string print(const Expr& e, int at_least);

std::string join(const std::vector<Expr>& args, const char* separator, int at_least) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out += separator;
    out += print(args[i], at_least);
  }
  return out;
}

std::string call(const char* function, const std::vector<Expr>& args) {
  return std::string(function) + "(" + join(args, ", ", 0) + ")";
}

/// The positive part of a negative term, so that a sum prints "x - 2*y" instead of "x + -2*y".
std::optional<Expr> without_minus(const Expr& e) {
  if (e.is_constant() && e.value() < 0 && e.value() != std::numeric_limits<int64_t>::min())
    return Expr::integer(-e.value());
  if (e.op() == ExprOp::kNeg) return e.args()[0];
  if (e.op() == ExprOp::kMul && !e.args().empty() && e.args()[0].is_constant() && e.args()[0].value() < 0 &&
      e.args()[0].value() != std::numeric_limits<int64_t>::min()) {
    std::vector<Expr> rest = e.args();
    if (rest[0].value() == -1 && rest.size() > 1)
      rest.erase(rest.begin());
    else
      rest[0] = Expr::integer(-rest[0].value());
    return Expr::make(ExprOp::kMul, std::move(rest));
  }
  return std::nullopt;
}

// Positive terms first and the constant last: "x.size(0) - 1" whatever order sympy sorted the terms into.
std::string print_sum(const std::vector<Expr>& args) {
  std::vector<Expr> plus, minus;
  for (const Expr& term : args) {
    if (const std::optional<Expr> positive = without_minus(term))
      minus.push_back(*positive);
    else
      plus.push_back(term);
  }
  const auto constants_last = [](const Expr& x, const Expr& y) { return !x.is_constant() && y.is_constant(); };
  std::stable_sort(plus.begin(), plus.end(), constants_last);
  std::stable_sort(minus.begin(), minus.end(), constants_last);
  std::string out = join(plus, " + ", kSumLevel);
  // A leading minus binds tighter than "//" in what follows it, one between terms does not.
  for (const Expr& term : minus) out += out.empty() ? "-" + print(term, kUnaryLevel) : " - " + print(term, kTermLevel);
  return out;
}

std::string print_bare(const Expr& e) {
  const std::vector<Expr>& a = e.args();
  const auto binary = [&](const char* symbol, int left, int right) {
    return print(a[0], left) + symbol + print(a[1], right);
  };
  switch (e.op()) {
    case ExprOp::kInt:
      return std::to_string(e.value());
    case ExprOp::kSymbol:
    case ExprOp::kOpaque:
      return e.name();
    case ExprOp::kAdd:
      return print_sum(a);
    case ExprOp::kMul:
      if (level(e) == kUnaryLevel) return "-" + print(a[1], kUnaryLevel);
      // "//" and "%" bind as "*" does and would regroup; in front they would only be hard to read.
      return print(a[0], a[0].op() == ExprOp::kMul ? kTermLevel : kUnaryLevel) + "*" +
             join({a.begin() + 1, a.end()}, "*", kUnaryLevel);
    case ExprOp::kPow:
      return binary("**", kAtomLevel, kPowLevel);
    case ExprOp::kNeg:
      return "-" + print(a[0], kUnaryLevel);
    case ExprOp::kFloorDiv:
      return binary(" // ", kTermLevel, kUnaryLevel);
    case ExprOp::kMod:
      return binary(" % ", kTermLevel, kUnaryLevel);
    case ExprOp::kCeilDiv:
      return call("ceil_div", a);
    case ExprOp::kMax:
      return call("max", a);
    case ExprOp::kMin:
      return call("min", a);
    case ExprOp::kAbs:
      return call("abs", a);
    case ExprOp::kModularIndexing:
      return call("modular_indexing", a);
    case ExprOp::kWhere:
      return call("where", a);
    case ExprOp::kEq:
      return binary(" == ", kSumLevel, kSumLevel);
    case ExprOp::kNe:
      return binary(" != ", kSumLevel, kSumLevel);
    case ExprOp::kLt:
      return binary(" < ", kSumLevel, kSumLevel);
    case ExprOp::kLe:
      return binary(" <= ", kSumLevel, kSumLevel);
    case ExprOp::kGt:
      return binary(" > ", kSumLevel, kSumLevel);
    case ExprOp::kGe:
      return binary(" >= ", kSumLevel, kSumLevel);
    case ExprOp::kAnd:
      return join(a, " and ", kNotLevel);
    case ExprOp::kOr:
      return join(a, " or ", kAndLevel);
    case ExprOp::kNot:
      return "not " + print(a[0], kNotLevel);
  }
  return {};
}

std::string print(const Expr& e, int at_least) {
  const std::string text = print_bare(e);
  return level(e) < at_least ? "(" + text + ")" : text;
}

size_t least_arity(ExprOp op) {
  switch (op) {
    case ExprOp::kInt:
    case ExprOp::kSymbol:
    case ExprOp::kOpaque:
      return 0;
    case ExprOp::kModularIndexing:
    case ExprOp::kWhere:
      return 3;
    case ExprOp::kAdd:
    case ExprOp::kMul:
    case ExprOp::kMax:
    case ExprOp::kMin:
    case ExprOp::kAnd:
    case ExprOp::kOr:
    case ExprOp::kNeg:
    case ExprOp::kAbs:
    case ExprOp::kNot:
      return 1;
    default:
      return 2;
  }
}

bool takes_any_count(ExprOp op) {
  return op == ExprOp::kAdd || op == ExprOp::kMul || op == ExprOp::kMax || op == ExprOp::kMin || op == ExprOp::kAnd ||
         op == ExprOp::kOr;
}

std::optional<int64_t> apply_op(ExprOp op, const std::vector<int64_t>& v) {
  std::optional<int64_t> out;
  switch (op) {
    case ExprOp::kAdd:
      out = 0;
      for (size_t i = 0; i < v.size() && out; ++i) out = checked_add(*out, v[i]);
      return out;
    case ExprOp::kMul:
      out = 1;
      for (size_t i = 0; i < v.size() && out; ++i) out = checked_mul(*out, v[i]);
      return out;
    case ExprOp::kPow:
      return power(v[0], v[1]);
    case ExprOp::kNeg:
      return checked_mul(v[0], -1);
    case ExprOp::kFloorDiv:
      return floor_div(v[0], v[1]);
    case ExprOp::kCeilDiv: {
      const std::optional<int64_t> quotient = floor_div(v[0], v[1]);
      if (!quotient) return std::nullopt;
      return *floor_mod(v[0], v[1]) != 0 ? checked_add(*quotient, 1) : quotient;
    }
    case ExprOp::kMod:
      return floor_mod(v[0], v[1]);
    case ExprOp::kMax:
      return *std::max_element(v.begin(), v.end());
    case ExprOp::kMin:
      return *std::min_element(v.begin(), v.end());
    case ExprOp::kAbs:
      return v[0] < 0 ? checked_mul(v[0], -1) : std::optional<int64_t>(v[0]);
    case ExprOp::kModularIndexing: {
      const std::optional<int64_t> quotient = floor_div(v[0], v[1]);
      return quotient ? floor_mod(*quotient, v[2]) : std::nullopt;
    }
    case ExprOp::kEq:
      return v[0] == v[1];
    case ExprOp::kNe:
      return v[0] != v[1];
    case ExprOp::kLt:
      return v[0] < v[1];
    case ExprOp::kLe:
      return v[0] <= v[1];
    case ExprOp::kGt:
      return v[0] > v[1];
    case ExprOp::kGe:
      return v[0] >= v[1];
    case ExprOp::kNot:
      return v[0] == 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Expr Expr::integer(int64_t value) {
  auto node = std::make_shared<Node>();
  node->value = value;
  return Expr(std::shared_ptr<const Node>(std::move(node)));
}

Expr Expr::symbol(std::string name) {
  auto node = std::make_shared<Node>();
  node->op = ExprOp::kSymbol;
  node->name = std::move(name);
  return Expr(std::shared_ptr<const Node>(std::move(node)));
}

Expr Expr::opaque(std::string text) {
  auto node = std::make_shared<Node>();
  node->op = ExprOp::kOpaque;
  node->name = std::move(text);
  return Expr(std::shared_ptr<const Node>(std::move(node)));
}

Expr Expr::make(ExprOp op, std::vector<Expr> args) {
  const size_t least = least_arity(op);
  AOTIFUZZ_CHECK(least > 0 && args.size() >= least && (args.size() == least || takes_any_count(op)))
      << "operator " << static_cast<int>(op) << " with " << args.size() << " arguments";
  if (args.size() == 1 && takes_any_count(op)) return args[0];
  auto node = std::make_shared<Node>();
  node->op = op;
  node->args = std::move(args);
  Expr made(std::shared_ptr<const Node>(std::move(node)));
  const bool constant =
      std::all_of(made.args().begin(), made.args().end(), [](const Expr& arg) { return arg.is_constant(); });
  if (constant) {
    if (const std::optional<int64_t> value = made.evaluate([](const std::string&) { return std::nullopt; }))
      return integer(*value);
  }
  return made;
}

std::string Expr::text() const { return print(*this, 0); }

void Expr::collect_symbols(std::set<std::string>& out) const {
  if (op() == ExprOp::kSymbol) out.insert(name());
  for (const Expr& arg : args()) arg.collect_symbols(out);
}

bool Expr::has_opaque() const {
  return op() == ExprOp::kOpaque ||
         std::any_of(args().begin(), args().end(), [](const Expr& arg) { return arg.has_opaque(); });
}

std::optional<int64_t> Expr::evaluate(const Lookup& lookup) const {
  switch (op()) {
    case ExprOp::kInt:
      return value();
    case ExprOp::kSymbol:
      return lookup(name());
    case ExprOp::kOpaque:
      return std::nullopt;
    // The branch not taken and operands after a decided one may be undefined (a division by zero they protect from).
    case ExprOp::kWhere: {
      const std::optional<int64_t> condition = args()[0].evaluate(lookup);
      if (!condition) return std::nullopt;
      return args()[*condition != 0 ? 1 : 2].evaluate(lookup);
    }
    case ExprOp::kAnd:
    case ExprOp::kOr: {
      const bool deciding = op() == ExprOp::kOr;
      for (const Expr& arg : args()) {
        const std::optional<int64_t> value = arg.evaluate(lookup);
        if (!value) return std::nullopt;
        if ((*value != 0) == deciding) return deciding;
      }
      return !deciding;
    }
    default:
      break;
  }
  std::vector<int64_t> values;
  values.reserve(args().size());
  for (const Expr& arg : args()) {
    const std::optional<int64_t> value = arg.evaluate(lookup);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return apply_op(op(), values);
}

Expr Expr::substitute(const std::function<std::optional<Expr>(const std::string&)>& replace) const {
  if (op() == ExprOp::kSymbol) {
    std::optional<Expr> other = replace(name());
    return other ? *other : *this;
  }
  if (args().empty()) return *this;
  std::vector<Expr> replaced;
  replaced.reserve(args().size());
  for (const Expr& arg : args()) replaced.push_back(arg.substitute(replace));
  return make(op(), std::move(replaced));
}

bool operator==(const Expr& a, const Expr& b) {
  if (a.node_ == b.node_) return true;
  return a.op() == b.op() && a.value() == b.value() && a.name() == b.name() && a.args() == b.args();
}

}  // namespace aotifuzz
