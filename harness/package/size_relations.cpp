#include "package/size_relations.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace aotifuzz {
namespace {

bool is_sum_of_products(const Expr& e) {
  switch (e.op()) {
    case ExprOp::kInt:
    case ExprOp::kSymbol:
      return true;
    case ExprOp::kAdd:
    case ExprOp::kMul:
    case ExprOp::kNeg:
      break;
    default:
      return false;
  }
  return std::all_of(e.args().begin(), e.args().end(), is_sum_of_products);
}

bool is_commutative(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
    case ExprOp::kMul:
    case ExprOp::kMax:
    case ExprOp::kMin:
    case ExprOp::kEq:
    case ExprOp::kNe:
    case ExprOp::kAnd:
    case ExprOp::kOr:
      return true;
    default:
      return false;
  }
}

int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

}  // namespace

// A polynomial in one symbol that is linear through three points, of degree at most two by its shape, is affine; a
// fourth and fifth point rule out what a higher degree could fake.
std::optional<Affine> affine(const Expr& e) {
  std::set<std::string> names;
  e.collect_symbols(names);
  if (names.size() != 1 || !is_sum_of_products(e)) return std::nullopt;
  const auto at = [&](int64_t x) { return e.evaluate([x](const std::string&) { return std::optional(x); }); };
  const std::optional<int64_t> zero = at(0), one = at(1);
  if (!zero || !one) return std::nullopt;
  Affine out{*names.begin(), *one - *zero, *zero};
  for (int64_t x : {2, 3, 101, -7}) {
    const std::optional<int64_t> value = at(x);
    if (!value || *value != out.factor * x + out.constant) return std::nullopt;
  }
  return out.factor == 0 ? std::nullopt : std::optional(out);
}

std::string_view input_of_dimension(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(0, dot);
}

Expr canonical(const Expr& e) {
  if (e.args().empty()) return e;
  std::vector<Expr> args;
  for (const Expr& arg : e.args()) args.push_back(canonical(arg));
  if (is_commutative(e.op())) {
    std::vector<std::pair<std::string, Expr>> keyed;
    for (Expr& arg : args) keyed.emplace_back(arg.text(), arg);
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < args.size(); ++i) args[i] = keyed[i].second;
  }
  if ((e.op() == ExprOp::kEq || e.op() == ExprOp::kLe || e.op() == ExprOp::kGe) && args[0] == args[1])
    return Expr::integer(1);
  return Expr::make(e.op(), std::move(args));
}

std::optional<LinearBound> linear_bound(const Expr& comparison) {
  const ExprOp op = comparison.op();
  if (op != ExprOp::kLt && op != ExprOp::kLe && op != ExprOp::kGt && op != ExprOp::kGe) return std::nullopt;
  const Expr difference = Expr::make(
      ExprOp::kAdd, {comparison.args()[0], Expr::make(ExprOp::kMul, {Expr::integer(-1), comparison.args()[1]})});
  const std::optional<Affine> form = affine(difference);
  constexpr int64_t kHuge = int64_t{1} << 60;
  if (!form || std::abs(form->factor) > kHuge || std::abs(form->constant) > kHuge) return std::nullopt;
  // factor * d + constant OP 0, brought to factor * d >= limit.
  int64_t factor = form->factor, limit = -form->constant;
  if (op == ExprOp::kLt || op == ExprOp::kLe) {
    factor = -factor;
    limit = -limit;
  }
  if (op == ExprOp::kLt || op == ExprOp::kGt) ++limit;
  if (factor > 0) return LinearBound{form->name, true, -floor_div(-limit, factor)};
  return LinearBound{form->name, false, floor_div(-limit, -factor)};
}

void SizeRelations::define(const std::string& symbol, Expr over_dimensions) {
  symbols_.insert_or_assign(symbol, std::move(over_dimensions));
}

void SizeRelations::fix(const std::string& dimension, Expr value) {
  fixed_.insert_or_assign(dimension, std::move(value));
}

std::optional<Derived> SizeRelations::solve(const Expr& size, const std::string& dimension) const {
  const std::optional<Affine> form = affine(size);
  if (!form || knows(form->name)) return std::nullopt;
  const Expr dim = Expr::symbol(dimension);
  const Expr shifted = form->constant == 0 ? dim : Expr::make(ExprOp::kAdd, {dim, Expr::integer(-form->constant)});
  const Expr factor = Expr::integer(form->factor);
  if (form->factor == 1) return Derived{form->name, shifted, std::nullopt};
  return Derived{form->name, Expr::make(ExprOp::kFloorDiv, {shifted, factor}),
                 Expr::make(ExprOp::kEq, {Expr::make(ExprOp::kMod, {shifted, factor}), Expr::integer(0)})};
}

Expr SizeRelations::to_dimensions(const Expr& e) const {
  return e.substitute([this](const std::string& name) {
    const auto it = symbols_.find(name);
    return it == symbols_.end() ? std::optional<Expr>() : std::optional(it->second);
  });
}

Expr SizeRelations::reduced(const Expr& e) const {
  return canonical(e.substitute([this](const std::string& name) {
    const auto it = fixed_.find(name);
    return it == fixed_.end() ? std::optional<Expr>() : std::optional(it->second);
  }));
}

}  // namespace aotifuzz
