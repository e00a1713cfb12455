#include "package/contract_solver.h"

#include <z3++.h>

#include <map>
#include <utility>

namespace aotifuzz {
namespace {

// Counted in Z3's own steps so that every machine gives the same answer. A linear question takes about 500 steps and a
// few ms, a hopeless one (products of unknowns) runs at about 200,000 steps a second: 0.1 s for one, 0.3 s for all.
constexpr unsigned kStepsPerQuery = 20'000;
constexpr uint64_t kStepsTotal = 60'000;
constexpr unsigned kSeed = 1;

/// Translates expressions; collects what must hold for them to be defined (no division by zero).
class Translator {
 public:
  Translator(z3::context& context, const std::map<std::string, z3::expr>& variables)
      : context_(context), variables_(variables), defined_(context.bool_val(true)) {}

  std::optional<z3::expr> condition(const Expr& e) {
    const std::optional<z3::expr> value = boolean(e);
    return value ? std::optional(*value && defined_) : std::nullopt;
  }

 private:
  std::optional<z3::expr> boolean(const Expr& e) {
    const std::vector<Expr>& args = e.args();
    switch (e.op()) {
      case ExprOp::kAnd:
      case ExprOp::kOr: {
        z3::expr out = context_.bool_val(e.op() == ExprOp::kAnd);
        for (const Expr& arg : args) {
          const std::optional<z3::expr> part = boolean(arg);
          if (!part) return std::nullopt;
          out = e.op() == ExprOp::kAnd ? out && *part : out || *part;
        }
        return out;
      }
      case ExprOp::kNot: {
        const std::optional<z3::expr> part = boolean(args[0]);
        return part ? std::optional(!*part) : std::nullopt;
      }
      case ExprOp::kEq:
      case ExprOp::kNe:
      case ExprOp::kLt:
      case ExprOp::kLe:
      case ExprOp::kGt:
      case ExprOp::kGe: {
        const std::optional<z3::expr> left = integer(args[0]), right = integer(args[1]);
        if (!left || !right) return std::nullopt;
        switch (e.op()) {
          case ExprOp::kEq:
            return *left == *right;
          case ExprOp::kNe:
            return *left != *right;
          case ExprOp::kLt:
            return *left < *right;
          case ExprOp::kLe:
            return *left <= *right;
          case ExprOp::kGt:
            return *left > *right;
          default:
            return *left >= *right;
        }
      }
      default: {
        const std::optional<z3::expr> value = integer(e);
        return value ? std::optional(*value != 0) : std::nullopt;
      }
    }
  }

  std::optional<z3::expr> integer(const Expr& e) {
    std::vector<z3::expr> v;
    switch (e.op()) {
      case ExprOp::kInt:
        return context_.int_val(e.value());
      case ExprOp::kSymbol: {
        const auto it = variables_.find(e.name());
        return it == variables_.end() ? std::nullopt : std::optional(it->second);
      }
      case ExprOp::kOpaque:
        return std::nullopt;
      case ExprOp::kPow:
        return power(e);
      case ExprOp::kWhere: {
        const std::optional<z3::expr> test = boolean(e.args()[0]), yes = integer(e.args()[1]),
                                      no = integer(e.args()[2]);
        if (!test || !yes || !no) return std::nullopt;
        return z3::ite(*test, *yes, *no);
      }
      case ExprOp::kEq:
      case ExprOp::kNe:
      case ExprOp::kLt:
      case ExprOp::kLe:
      case ExprOp::kGt:
      case ExprOp::kGe:
      case ExprOp::kAnd:
      case ExprOp::kOr:
      case ExprOp::kNot: {
        const std::optional<z3::expr> value = boolean(e);
        return value ? std::optional(z3::ite(*value, context_.int_val(1), context_.int_val(0))) : std::nullopt;
      }
      default:
        break;
    }
    for (const Expr& arg : e.args()) {
      const std::optional<z3::expr> value = integer(arg);
      if (!value) return std::nullopt;
      v.push_back(*value);
    }
    z3::expr out = v[0];
    switch (e.op()) {
      case ExprOp::kNeg:
        return -out;
      case ExprOp::kAbs:
        return z3::ite(out < 0, -out, out);
      case ExprOp::kFloorDiv:
        return floor_div(v[0], v[1]);
      case ExprOp::kCeilDiv:
        return -floor_div(-v[0], v[1]);
      case ExprOp::kMod:
        return floor_mod(v[0], v[1]);
      case ExprOp::kModularIndexing:
        return floor_mod(floor_div(v[0], v[1]), v[2]);
      default:
        break;
    }
    for (size_t i = 1; i < v.size(); ++i) {
      switch (e.op()) {
        case ExprOp::kAdd:
          out = out + v[i];
          break;
        case ExprOp::kMul:
          out = out * v[i];
          break;
        case ExprOp::kMax:
          out = z3::ite(out < v[i], v[i], out);
          break;
        case ExprOp::kMin:
          out = z3::ite(v[i] < out, v[i], out);
          break;
        default:
          return std::nullopt;
      }
    }
    return out;
  }

  std::optional<z3::expr> power(const Expr& e) {
    constexpr int64_t kExponentMax = 8;  // past this the products are hopeless for the solver
    if (!e.args()[1].is_constant() || e.args()[1].value() < 0 || e.args()[1].value() > kExponentMax)
      return std::nullopt;
    const std::optional<z3::expr> base = integer(e.args()[0]);
    if (!base) return std::nullopt;
    z3::expr out = context_.int_val(1);
    for (int64_t i = 0; i < e.args()[1].value(); ++i) out = out * *base;
    return out;
  }

  static bool is_positive(const z3::expr& numeral) {
    int64_t value = 0;
    return numeral.is_numeral_i64(value) && value > 0;
  }

  // SMT-LIB division rounds so that the remainder is not negative: the same as Python's for a positive divisor.
  z3::expr floor_div(const z3::expr& x, const z3::expr& y) {
    defined_ = defined_ && y != 0;
    if (is_positive(y)) return x / y;
    return z3::ite(y > 0, x / y, (-x) / (-y));
  }
  z3::expr floor_mod(const z3::expr& x, const z3::expr& y) {
    defined_ = defined_ && y != 0;
    if (is_positive(y)) return z3::mod(x, y);
    return z3::ite(y > 0, z3::mod(x, y), -z3::mod(-x, -y));
  }

  z3::context& context_;
  const std::map<std::string, z3::expr>& variables_;
  z3::expr defined_;
};

}  // namespace

struct ContractSolver::State {
  z3::context context;
  std::map<std::string, z3::expr> variables;
  std::map<int, z3::expr> conditions;
  uint64_t spent = 0;
};

ContractSolver::ContractSolver(const DimensionSpace& space) : state_(std::make_unique<State>()), space_(space) {
  z3::context& context = state_->context;
  for (const std::string& name : space.all()) state_->variables.emplace(name, context.int_const(name.c_str()));
  const std::vector<Condition>& conditions = space.contract().conditions;
  for (int i = 0; i < static_cast<int>(conditions.size()); ++i) {
    if (!space.is_checked(i)) continue;
    const std::optional<z3::expr> formula = Translator(context, state_->variables).condition(conditions[i].expr);
    if (formula)
      state_->conditions.emplace(i, *formula);
    else
      untranslated_.push_back(i);
  }
}

ContractSolver::~ContractSolver() = default;

ContractSolver::Solution ContractSolver::solve(const Query& query) {
  Solution out;
  if (state_->spent >= kStepsTotal || (query.broken >= 0 && !state_->conditions.contains(query.broken))) {
    ++given_up_;
    return out;
  }
  try {
    z3::context& context = state_->context;
    z3::solver solver(context);
    z3::params params(context);
    params.set("random_seed", kSeed);
    params.set("rlimit", kStepsPerQuery);
    solver.set(params);
    for (const auto& [index, formula] : state_->conditions)
      if (!query.without.contains(index)) solver.add(index == query.broken ? !formula : formula);
    for (const auto& [name, variable] : state_->variables)
      if (space_.is_size(name)) solver.add(variable >= 0);
    const auto add = [&](const Assignment& values, auto relate) {
      for (const auto& [name, value] : values)
        if (const auto it = state_->variables.find(name); it != state_->variables.end())
          solver.add(relate(it->second, context.int_val(value)));
    };
    add(query.fixed, [](const z3::expr& x, const z3::expr& v) { return x == v; });
    add(query.at_least, [](const z3::expr& x, const z3::expr& v) { return x >= v; });
    add(query.at_most, [](const z3::expr& x, const z3::expr& v) { return x <= v; });
    if (query.not_congruent) {
      const auto& [name, congruence] = *query.not_congruent;
      solver.add(z3::mod(state_->variables.at(name), context.int_val(congruence.first)) !=
                 context.int_val(congruence.second));
    }
    const z3::check_result result = solver.check();
    const z3::stats statistics = solver.statistics();
    for (unsigned i = 0; i < statistics.size(); ++i)  // a running total of the context
      if (statistics.key(i) == "rlimit count" && statistics.is_uint(i)) state_->spent = statistics.uint_value(i);
    if (result == z3::unknown) ++given_up_;
    out.answer = result == z3::sat ? Answer::kYes : result == z3::unsat ? Answer::kNo : Answer::kUnknown;
    if (result != z3::sat) return out;
    const z3::model model = solver.get_model();
    for (const auto& [name, variable] : state_->variables) {
      int64_t value = 0;
      if (!model.eval(variable, true).is_numeral_i64(value)) return {};
      out.values[name] = value;
    }
    return out;
  } catch (const z3::exception&) {  // out of its own limits in the middle of an operation
    ++given_up_;
    return {};
  }
}

}  // namespace aotifuzz
