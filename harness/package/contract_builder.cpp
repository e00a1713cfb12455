#include "package/contract_builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "package/contract_solver.h"
#include "core/guard_parser.h"
#include "package/size_relations.h"
#include "package/value_roles.h"

namespace aotifuzz {
namespace {

// Export writes int64's maximum, or one less, where it means "no limit".
constexpr int64_t kUnlimited = int64_t{1} << 62;

std::string size_name(const std::string& input, size_t dim) { return input + ".size(" + std::to_string(dim) + ")"; }
std::string stride_name(const std::string& input, size_t dim) { return input + ".stride(" + std::to_string(dim) + ")"; }

bool is_unbacked(const std::string& symbol) {
  return symbol.starts_with("u") || symbol.starts_with("zu");  // export's prefixes of data-dependent symbols
}

CaseInput::Kind scalar_kind(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::kInt:
    case Argument::Kind::kSymInt:
      return CaseInput::Kind::kInt;
    case Argument::Kind::kFloat:
    case Argument::Kind::kSymFloat:
      return CaseInput::Kind::kFloat;
    case Argument::Kind::kBool:
    case Argument::Kind::kSymBool:
      return CaseInput::Kind::kBool;
    default:
      return CaseInput::Kind::kNone;  // None and texts: nothing to draw
  }
}

/// Drops guards that the other conditions imply: export writes every step of its reasoning down ("n // 100 > 1" beside
/// "n >= 200"), and a condition that cannot be broken by itself says nothing to a reader or a generator. Long ones go
/// first.
void drop_implied_guards(Contract& contract) {
  std::vector<int> guards;
  for (int i = 0; i < static_cast<int>(contract.conditions.size()); ++i)
    if (contract.conditions[i].kind == Condition::Kind::kGuard) guards.push_back(i);
  if (guards.empty()) return;
  std::stable_sort(guards.begin(), guards.end(), [&](int a, int b) {
    return contract.conditions[a].text.size() > contract.conditions[b].text.size();
  });
  std::set<int> dropped;
  {
    const DimensionSpace space(contract);
    ContractSolver solver(space);
    for (int guard : guards) {
      ContractSolver::Query query;
      query.broken = guard;
      query.without = dropped;
      if (solver.solve(query).answer == ContractSolver::Answer::kNo) dropped.insert(guard);
    }
  }
  std::vector<Condition> kept;
  for (int i = 0; i < static_cast<int>(contract.conditions.size()); ++i)
    if (!dropped.contains(i)) kept.push_back(std::move(contract.conditions[i]));
  contract.conditions = std::move(kept);
}

class Builder {
 public:
  Builder(const Program& program, std::vector<std::string>& notes) : program_(program), notes_(notes) {}

  Contract build() {
    for (const GraphInput& input : program_.inputs)
      if (input.kind == GraphInput::Kind::kUser || input.kind == GraphInput::Kind::kConstant) add_input(input);
    find_symbols();
    add_sizes();
    add_ranges();
    add_guards();
    drop_implied_guards(contract_);
    learn_uses();
    return std::move(contract_);
  }

 private:
  void add_input(const GraphInput& input) {
    InputSpec spec;
    spec.name = input.name;
    const auto meta = program_.graph.tensors.find(input.name);
    if (input.value.kind == Argument::Kind::kTensor && meta != program_.graph.tensors.end()) {
      spec.dtype = meta->second.dtype;
      spec.device = meta->second.device;
      spec.sizes = meta->second.sizes;
      spec.strides = meta->second.strides;
      spec.offset = meta->second.offset;
      if (meta->second.layout != 7) notes_.push_back(spec.name + ": not a strided tensor; cases cannot give it");
    } else {
      spec.kind = scalar_kind(input.value.kind);
      spec.is_constant = input.kind == GraphInput::Kind::kConstant;
      if (input.value.kind == Argument::Kind::kFloat)
        spec.constant = input.value.real;
      else
        spec.constant = input.value.kind == Argument::Kind::kBool ? int64_t{input.value.boolean} : input.value.integer;
    }
    contract_.inputs.push_back(std::move(spec));
  }

  void declare(const Expr& expr, const std::string& dim) {
    if (expr.op() == ExprOp::kSymbol && !relations_.knows(expr.name())) {
      relations_.define(expr.name(), Expr::symbol(dim));
      add_symbol(expr.name(), dim);
    }
  }

  void add_symbol(const std::string& name, const std::string& dim) {
    SymbolSpec symbol;
    symbol.name = name;
    symbol.dim = dim;
    symbol.unbacked = is_unbacked(name);
    contract_.symbols.push_back(std::move(symbol));
  }

  // Sizes before strides before scalars: a symbol that is a size is that size, whatever else equals it.
  void find_symbols() {
    for (const InputSpec& input : contract_.inputs)
      for (size_t d = 0; d < input.sizes.size(); ++d) declare(input.sizes[d], size_name(input.name, d));
    for (const InputSpec& input : contract_.inputs)
      if (const auto value = program_.graph.sym_ints.find(input.name); value != program_.graph.sym_ints.end())
        declare(value->second, input.name);
    // Derived dimensions (2*s) state their symbol too.
    for (const InputSpec& input : contract_.inputs)
      for (size_t d = 0; d < input.sizes.size(); ++d) {
        const std::optional<Derived> derived = relations_.solve(input.sizes[d], size_name(input.name, d));
        if (!derived) continue;
        relations_.define(derived->symbol, derived->value);
        add_symbol(derived->symbol, "");
        derived_.emplace(size_name(input.name, d), derived->condition);
      }
    for (const InputSpec& input : contract_.inputs)
      for (size_t d = 0; d < input.strides.size(); ++d) declare(input.strides[d], stride_name(input.name, d));
    for (const InputSpec& input : contract_.inputs) declare(input.offset, input.name + ".offset()");
    for (const auto& [key, range] : program_.range_constraints) {
      const Result<Expr> expr = parse_size_text(key);
      if (expr && expr->op() == ExprOp::kSymbol && !find_symbol(expr->name())) add_symbol(expr->name(), "");
    }
  }

  SymbolSpec* find_symbol(const std::string& name) {
    for (SymbolSpec& symbol : contract_.symbols)
      if (symbol.name == name) return &symbol;
    return nullptr;
  }

  void add_condition(Condition::Kind kind, Expr expr) {
    if (expr.is_constant() && expr.value() != 0) return;
    // What it says once every dimension is replaced by the one that decides it.
    const Expr meaning = relations_.reduced(expr);
    if (meaning.is_constant() && meaning.value() != 0 && kind == Condition::Kind::kGuard) return;
    if (!said_.insert((kind == Condition::Kind::kGuard ? meaning : canonical(expr)).text()).second) return;
    if (kind != Condition::Kind::kGuard) said_.insert(meaning.text());
    Condition condition;
    condition.kind = kind;
    condition.input = only_input(expr);
    condition.text = expr.text();
    condition.expr = std::move(expr);
    contract_.conditions.push_back(std::move(condition));
  }

  int only_input(const Expr& expr) const {
    std::set<std::string> names;
    expr.collect_symbols(names);
    int found = -1;
    for (const std::string& name : names) {
      const int index = contract_.find_input(input_of_dimension(name));
      if (index < 0 || (found >= 0 && found != index)) return -1;
      found = index;
    }
    return found;
  }

  void add_sizes() {
    std::map<std::string, std::string> first_of;  // size expression -> the first dimension that has it
    for (const InputSpec& input : contract_.inputs)
      for (size_t d = 0; d < input.sizes.size(); ++d) {
        const std::string name = size_name(input.name, d);
        const auto [first, is_first] = first_of.try_emplace(canonical(input.sizes[d]).text(), name);
        if (const auto condition = derived_.find(name); condition != derived_.end()) {
          if (condition->second) add_condition(Condition::Kind::kSize, *condition->second);
          continue;
        }
        const bool repeats = !is_first && !input.sizes[d].is_constant();
        const Expr fixed = repeats ? Expr::symbol(first->second) : relations_.to_dimensions(input.sizes[d]);
        if (fixed == Expr::symbol(name)) continue;
        if (!fixed.has_opaque()) relations_.fix(name, relations_.reduced(fixed));
        add_condition(Condition::Kind::kSize, Expr::make(ExprOp::kEq, {Expr::symbol(name), fixed}));
      }
  }

  // The dimension that a range key means: an input size that is this expression, else the expression itself.
  Expr range_subject(const Expr& key) const {
    const Expr wanted = canonical(key);
    for (const InputSpec& input : contract_.inputs)
      for (size_t d = 0; d < input.sizes.size(); ++d)
        if (canonical(input.sizes[d]) == wanted) return relations_.reduced(Expr::symbol(size_name(input.name, d)));
    return relations_.to_dimensions(key);
  }

  struct Bounded {
    Expr subject;
    std::optional<int64_t> min, max;
  };

  void add_ranges() {
    std::vector<Bounded> bounded;
    for (const auto& [key, range] : program_.range_constraints) {
      const Result<Expr> parsed = parse_size_text(key);
      if (!parsed) {
        notes_.push_back("range of '" + key + "' not understood: " + parsed.error().what);
        continue;
      }
      std::optional<int64_t> min = range.min, max = range.max;
      if (min == 2) min.reset();
      if (max && *max >= kUnlimited) max.reset();
      SymbolSpec* symbol = parsed->op() == ExprOp::kSymbol ? find_symbol(parsed->name()) : nullptr;
      if (symbol != nullptr) {
        symbol->min = std::max<int64_t>(min.value_or(0), symbol->dim.find('.') == std::string::npos ? -kUnlimited : 0);
        symbol->max = max;
        // Not checked by anyone: an unbacked symbol, and the hidden symbol of a derived dimension, which has a range.
        if (symbol->dim.empty()) continue;
      }
      const Expr subject = range_subject(*parsed);
      if (subject.op() == ExprOp::kSymbol) bounds_[subject.name()] = {min.value_or(0), max};
      bounded.push_back({subject, min, max});
    }
    // By dimension: the order must not depend on symbol names, which change with each export.
    std::stable_sort(bounded.begin(), bounded.end(),
                     [](const Bounded& a, const Bounded& b) { return a.subject.text() < b.subject.text(); });
    for (const Bounded& b : bounded) {
      if (b.min && *b.min > 0) add_range(Expr::make(ExprOp::kGe, {b.subject, Expr::integer(*b.min)}));
      if (b.max) add_range(Expr::make(ExprOp::kLe, {b.subject, Expr::integer(*b.max)}));
    }
  }

  // Brought to the dimension itself: a bound on y.size(0) + 1 and the same bound on y.size(0) are one condition.
  void add_range(const Expr& comparison) {
    const std::optional<LinearBound> bound = linear_bound(comparison);
    add_condition(Condition::Kind::kRange,
                  bound ? Expr::make(bound->lower ? ExprOp::kGe : ExprOp::kLe,
                                     {Expr::symbol(bound->dimension), Expr::integer(bound->limit)})
                        : comparison);
  }

  std::optional<std::string> input_named(const std::vector<std::string>& path) const {
    if (path.size() == 2 && path[0] == "flat_args") {  // position in the flattened inputs
      for (size_t i = 0; i < contract_.inputs.size(); ++i)
        if (std::to_string(i) == path[1]) return contract_.inputs[i].name;
      return std::nullopt;
    }
    // Export names a placeholder by its path, joined with "_" and, where that is no identifier, with letters replaced.
    std::string joined;
    for (const std::string& part : path) {
      if (!joined.empty()) joined += "_";
      for (char c : part) joined += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    for (const InputSpec& input : contract_.inputs) {
      if (input.name == joined) return input.name;
      std::string lower_name = joined;
      std::transform(lower_name.begin(), lower_name.end(), lower_name.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      if (input.name == lower_name) return input.name;
    }
    return std::nullopt;
  }

  // A guard that a range already says, such as `n > 5` beside a range from 6: broken together or not at all.
  bool implied_by_ranges(const Expr& guard) const {
    const std::optional<LinearBound> bound = linear_bound(guard);
    if (!bound) return false;
    const auto range = bounds_.find(bound->dimension);
    const int64_t min = range == bounds_.end() ? 0 : range->second.first;
    const std::optional<int64_t> max = range == bounds_.end() ? std::nullopt : range->second.second;
    return bound->lower ? min >= bound->limit : max && *max <= bound->limit;
  }

  void add_guards() {
    const InputNamer namer = [this](const std::vector<std::string>& path) { return input_named(path); };
    for (const std::string& text : program_.guards_code) {
      Result<Expr> guard = parse_guard(text, namer);
      if (!guard) {
        notes_.push_back("guard not understood: " + text + " (" + guard.error().what + ")");
        continue;
      }
      if (guard->has_opaque()) notes_.push_back("guard not checked: " + text);
      if (!guard->has_opaque() && implied_by_ranges(relations_.reduced(*guard))) {
        mark_traced(relations_.reduced(*guard));
        continue;
      }
      add_condition(Condition::Kind::kGuard, std::move(*guard));
    }
    for (Condition& condition : contract_.conditions) condition.traced |= condition.kind == Condition::Kind::kGuard;
  }

  /// A range that is this guard: export narrowed an automatic dimension to it.
  void mark_traced(const Expr& guard) {
    const std::optional<LinearBound> bound = linear_bound(guard);
    for (Condition& condition : contract_.conditions) {
      const std::optional<LinearBound> range =
          condition.kind == Condition::Kind::kRange ? linear_bound(condition.expr) : std::nullopt;
      condition.traced |= bound && range && range->dimension == bound->dimension && range->lower == bound->lower &&
                          range->limit == bound->limit;
    }
  }

  void learn_uses() {
    const std::function<Expr(const Expr&)> to_dimensions = [this](const Expr& e) {
      return relations_.to_dimensions(e);
    };
    const std::map<std::string, InputUse> uses = learn_input_uses(program_, to_dimensions);
    for (InputSpec& input : contract_.inputs) {
      const auto use = uses.find(input.name);
      if (use == uses.end()) continue;
      input.role = use->second.role;
      input.mutated = use->second.mutated;
    }
  }

  const Program& program_;
  std::vector<std::string>& notes_;
  Contract contract_;
  SizeRelations relations_;
  std::map<std::string, std::optional<Expr>> derived_;  ///< dimension -> what makes its hidden symbol an integer
  std::set<std::string> said_;
  std::map<std::string, std::pair<int64_t, std::optional<int64_t>>> bounds_;
};

}  // namespace

Contract build_contract(const Program& program, std::vector<std::string>& notes) {
  return Builder(program, notes).build();
}

}  // namespace aotifuzz
