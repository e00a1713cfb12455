#include "package/contract_bounds.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "package/assignment_search.h"
#include "package/breaking_search.h"
#include "package/contract_solver.h"
#include "package/dimension_space.h"
#include "package/size_relations.h"

namespace aotifuzz {
namespace {

constexpr int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71};

/// At which two sizes that may be related are tried.
constexpr int64_t kRelatedSizes[] = {2, 5, 17};

/// Sizes at which generated code changes its path: vector widths, tiles, powers of two and their neighbours.
std::vector<int64_t> usual_landmarks() {
  std::set<int64_t> out = {0, 1, 2, 3, 5, 7, 11, 13, 23, 47, 97, 193, 769, 1531};
  for (int64_t power = 4; power <= 4096; power *= 2)
    for (int64_t delta : {-1, 0, 1}) out.insert(power + delta);
  return {out.begin(), out.end()};
}

class BoundsFinder {
 public:
  BoundsFinder(const Contract& contract, int64_t elements_max, const SizeTargets& targets)
      : contract_(contract),
        elements_max_(elements_max),
        targets_(targets),
        space_(contract),
        solver_(space_),
        search_(space_, solver_, elements_max) {}

  ContractBounds find() {
    for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i)
      if (!space_.is_checked(i)) note("not solved: " + contract_.conditions[i].text);
    for (int i : solver_.untranslated()) note("checked but not solved: " + contract_.conditions[i].text);
    if (!search_.find_base()) {
      note("no assignment of sizes satisfies the contract as far as found");
      return std::move(out_);
    }
    for (const std::string& name : space_.choosable()) out_.symbols.push_back(bounds_of(name));
    add_boundary();
    for (const std::string& name : space_.free_strides()) add_stride(name);
    add_hidden_symbols();
    const int unbroken = add_breaking();
    if (unbroken > 0)
      note(std::to_string(unbroken) + " of " + std::to_string(contract_.conditions.size()) +
           " conditions are implied by the others as far as found: nothing breaks only them");
    if (solver_.given_up() > 0)
      note("the solver gave up on " + std::to_string(solver_.given_up()) +
           " questions: bounds may be wider than found");
    return std::move(out_);
  }

 private:
  void note(std::string text) { out_.notes.push_back(std::move(text)); }

  bool exists_at_most(const std::string& name, int64_t value) {
    ContractSolver::Query query;
    query.at_most[name] = value;
    return solver_.solve(query).answer == ContractSolver::Answer::kYes;
  }
  ContractSolver::Answer exists_at_least(const std::string& name, int64_t value) {
    ContractSolver::Query query;
    query.at_least[name] = value;
    return solver_.solve(query).answer;
  }

  int64_t exact_min(const std::string& name, int64_t stated) {
    if (!space_.is_size(name)) return stated;
    std::vector<int64_t> values = search_.domain(name);
    std::sort(values.begin(), values.end());
    for (int64_t value : values)
      if (search_.with(name, value, false)) return value;
    int64_t low = stated, high = search_.base().at(name);  // the answer lies in [low, high]
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (exists_at_most(name, middle))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  std::optional<int64_t> exact_max(const std::string& name, std::optional<int64_t> stated) {
    if (stated && search_.with(name, *stated, false)) return stated;
    if (!stated && (search_.needs_no_solver(name) || exists_at_least(name, kSizeFar) != ContractSolver::Answer::kNo))
      return std::nullopt;
    int64_t low = search_.base().at(name), high = stated.value_or(kSizeFar);
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      if (exists_at_least(name, middle) == ContractSolver::Answer::kYes)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }

  void collect_moduli(const Expr& e, const std::string& name, std::set<int64_t>& out) const {
    if (e.op() == ExprOp::kMod && e.args()[1].is_constant()) {
      std::set<std::string> names;
      e.args()[0].collect_symbols(names);
      if (names.contains(name) && e.args()[1].value() > 1 && e.args()[1].value() <= 1 << 20)
        out.insert(e.args()[1].value());
    }
    for (const Expr& arg : e.args()) collect_moduli(arg, name, out);
  }

  // A step is believed when no other residue has a solution.
  void find_step(ContractBounds::SymbolBounds& bounds) {
    std::set<int64_t> moduli;
    for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i)
      if (space_.is_checked(i)) collect_moduli(contract_.conditions[i].expr, bounds.dim, moduli);
    int64_t common = 1;
    for (int64_t modulus : moduli)
      if (common < (1 << 20)) common = std::lcm(common, modulus);
    for (int64_t step : std::set<int64_t, std::greater<>>{common, moduli.empty() ? 1 : *moduli.rbegin()}) {
      if (step <= 1) continue;
      // Fewer conditions allow more, so what they exclude is excluded; products of dimensions would only slow the
      // proof.
      ContractSolver::Query query;
      for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i)
        if (search_.dimensions_of(i) != std::set<std::string>{bounds.dim}) query.without.insert(i);
      query.not_congruent = {bounds.dim, {step, search_.base().at(bounds.dim) % step}};
      if (solver_.solve(query).answer != ContractSolver::Answer::kNo) continue;
      bounds.step = step;
      bounds.residue = search_.base().at(bounds.dim) % step;
      return;
    }
  }

  ContractBounds::SymbolBounds bounds_of(const std::string& name) {
    ContractBounds::SymbolBounds bounds;
    bounds.dim = name;
    for (const SymbolSpec& symbol : contract_.symbols)
      if (symbol.dim == name) bounds.symbol = symbol.name;
    const auto [stated_min, stated_max] = search_.stated_bounds(name);
    find_step(bounds);
    bounds.min = exact_min(name, stated_min);
    bounds.max = exact_max(name, stated_max);
    add_landmarks(bounds);
    return bounds;
  }

  void add_landmarks(ContractBounds::SymbolBounds& bounds) {
    std::set<int64_t> values;
    for (int64_t value : usual_landmarks()) {
      values.insert(value);
      // The neighbours that the step allows: where the loop count is at a landmark, and just around the landmark.
      if (bounds.step > 1) values.insert(value * bounds.step + bounds.residue);
      if (bounds.step > 1) values.insert(value - (value - bounds.residue) % bounds.step);
    }
    for (int64_t delta : {0, 1, 2}) {
      values.insert(bounds.min + delta * bounds.step);
      if (bounds.max) values.insert(*bounds.max - delta * bounds.step);
    }
    if (const auto targets = targets_.values.find(bounds.dim); targets != targets_.values.end())
      values.insert(targets->second.begin(), targets->second.end());
    int64_t largest = bounds.min;
    for (int64_t value : values) {
      if (value < bounds.min || (bounds.max && value > *bounds.max)) continue;
      std::optional<Assignment> all = search_.with(bounds.dim, value, true);
      if (!all) continue;
      bounds.landmarks.push_back(value);
      largest = std::max(largest, value);
      edges_.push_back(std::move(*all));
    }
    // A maximum that no memory holds: the largest power of two times the step that fits stands in.
    if (bounds.max && *bounds.max == largest) return;
    for (int64_t value = elements_max_ / bounds.step; value > largest / bounds.step + 1; value /= 2) {
      const int64_t size = value * bounds.step + bounds.residue;
      if (bounds.max && size > *bounds.max) continue;
      std::optional<Assignment> all = search_.with(bounds.dim, size, true, false);
      if (!all) continue;
      bounds.landmarks.push_back(size);
      edges_.push_back(std::move(*all));
      return;
    }
  }

  void add_boundary() {
    const auto add = [&](const std::optional<Assignment>& all) {
      if (all && std::find(out_.boundary.begin(), out_.boundary.end(), *all) == out_.boundary.end())
        out_.boundary.push_back(*all);
    };
    seeds_.push_back(search_.base());
    Assignment minimal;
    for (const ContractBounds::SymbolBounds& symbol : out_.symbols) minimal[symbol.dim] = symbol.min;
    add(search_.accepted(minimal));
    for (int64_t value : {1, 2}) {
      Assignment given;
      for (const ContractBounds::SymbolBounds& symbol : out_.symbols) given[symbol.dim] = std::max(symbol.min, value);
      add(search_.accepted(given));
    }
    add(search_.base());
    // All distinct primes, as large as the ranges and the memory allow.
    for (size_t first : {8, 4, 3, 2, 1}) {
      Assignment given;
      size_t next = first;
      for (const ContractBounds::SymbolBounds& symbol : out_.symbols)
        given[symbol.dim] = kPrimes[next++ % std::size(kPrimes)] * symbol.step + symbol.residue;
      if (const std::optional<Assignment> all = search_.accepted(given)) {
        add(all);
        seeds_.push_back(*all);
        break;
      }
    }
    for (const auto& [a, b] : targets_.related)
      for (int64_t value : kRelatedSizes)
        for (int64_t other : {value, value + 1, value - 1, int64_t{1}, 2 * value})
          add(search_.accepted({{a, value}, {b, other}}));
    for (const Assignment& edge : edges_) add(edge);
    seeds_.insert(seeds_.end(), edges_.begin(), edges_.end());
  }

  // A stride that export left free: the values that the boundary assignments needed.
  void add_stride(const std::string& name) {
    ContractBounds::SymbolBounds bounds;
    bounds.dim = name;
    for (const SymbolSpec& symbol : contract_.symbols)
      if (symbol.dim == name) bounds.symbol = symbol.name;
    std::set<int64_t> values;
    for (const Assignment& all : out_.boundary) values.insert(all.at(name));
    bounds.landmarks.assign(values.begin(), values.end());
    out_.symbols.push_back(std::move(bounds));
  }

  // The hidden symbol s of a dimension 32*s, for whoever chooses symbols: what its dimension may be, divided.
  void add_hidden_symbols() {
    std::set<std::string> hidden;
    for (const SymbolSpec& symbol : contract_.symbols)
      if (symbol.dim.empty() && !symbol.unbacked) hidden.insert(symbol.name);
    for (const InputSpec& input : contract_.inputs)
      for (size_t d = 0; d < input.sizes.size(); ++d) {
        const std::optional<Affine> form = affine(input.sizes[d]);
        if (!form || !hidden.contains(form->name) || form->factor < 1) continue;
        if (add_hidden_symbol(*form, input.name + ".size(" + std::to_string(d) + ")")) hidden.erase(form->name);
      }
  }

  bool add_hidden_symbol(const Affine& form, const std::string& dim) {
    const auto known = std::find_if(out_.symbols.begin(), out_.symbols.end(),
                                    [&](const ContractBounds::SymbolBounds& bounds) { return bounds.dim == dim; });
    if (known == out_.symbols.end()) return false;
    const auto divided = [&](int64_t size) { return (size - form.constant) / form.factor; };
    ContractBounds::SymbolBounds hidden;
    hidden.symbol = form.name;
    hidden.min = divided(known->min);
    if (known->max) hidden.max = divided(*known->max);
    for (int64_t size : known->landmarks) hidden.landmarks.push_back(divided(size));
    out_.symbols.push_back(std::move(hidden));
    return true;
  }

  /// Returns how many conditions nothing breaks alone.
  int add_breaking() {
    int unbroken = 0;
    BreakingSearch search(space_, solver_, seeds_, elements_max_);
    for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i) {
      if (!space_.is_checked(i)) continue;
      std::vector<Assignment> found = search.find(i);
      if (found.empty())
        ++unbroken;
      else
        out_.breaking.push_back({i, std::move(found)});
    }
    return unbroken;
  }

  const Contract& contract_;
  const int64_t elements_max_;
  const SizeTargets& targets_;
  DimensionSpace space_;
  ContractSolver solver_;
  AssignmentSearch search_;
  std::vector<Assignment> seeds_;  ///< satisfying assignments, small ones first
  std::vector<Assignment> edges_;
  ContractBounds out_;
};

}  // namespace

ContractBounds compute_bounds(const Contract& contract, int64_t elements_max, const SizeTargets& targets) {
  return BoundsFinder(contract, elements_max, targets).find();
}

}  // namespace aotifuzz
