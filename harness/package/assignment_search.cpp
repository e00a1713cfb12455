#include "package/assignment_search.h"

#include <algorithm>

#include "package/size_relations.h"

namespace aotifuzz {
namespace {

constexpr int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71};

}  // namespace

// Strides that export left free: dense ones, then ever wider rows.
std::optional<Assignment> AssignmentSearch::accepted(const Assignment& given, bool limited) const {
  for (int64_t widening : {1, 2, 3}) {
    std::optional<Assignment> all = space_.complete(given, widening);
    if (all && space_.satisfies(*all) && (!limited || space_.elements(*all) <= elements_max_)) return all;
    if (!space_.has_free_strides()) break;
  }
  return std::nullopt;
}

const std::vector<int64_t>& AssignmentSearch::domain(const std::string& name) {
  const auto [it, added] = domains_.try_emplace(name);
  if (!added) return it->second;
  constexpr int64_t kReach = 5000;
  constexpr size_t kValuesMax = 24;
  const auto [stated_min, stated_max] = stated_bounds(name);
  const int64_t min = std::max<int64_t>(stated_min, 0);
  std::vector<int64_t> tiny;
  for (int64_t value = min; value <= std::min(stated_max.value_or(min + kReach), min + kReach); ++value) {
    if (allowed_alone(name, value)) (value < 2 ? tiny : it->second).push_back(value);
    if (it->second.size() >= kValuesMax) break;
  }
  it->second.insert(it->second.end(), tiny.rbegin(), tiny.rend());
  return it->second;
}

bool AssignmentSearch::allowed_alone(const std::string& name, int64_t value) {
  const auto [it, added] = only_about_.try_emplace(name);
  if (added)
    for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i)
      if (space_.is_checked(i) && dimensions_of(i) == std::set<std::string>{name}) it->second.push_back(i);
  return std::all_of(it->second.begin(), it->second.end(), [&](int i) {
    return space_.holds(i, {{name, value}}).value_or(false);
  });
}

std::set<std::string> AssignmentSearch::dimensions_of(int condition) const {
  std::set<std::string> names;
  contract_.conditions[condition].expr.collect_symbols(names);
  return names;
}

// Distinct small values if possible, since equal sizes hide transpositions: primes, then what each dimension allows.
bool AssignmentSearch::find_base() {
  Assignment primes;
  size_t next = 0;
  for (const std::string& name : space_.choosable()) primes[name] = kPrimes[next++ % std::size(kPrimes)];
  if (std::optional<Assignment> all = accepted(primes))
    base_ = *all;
  else if (!search_base() && !solve_base())
    return false;
  return true;
}

// Counts through the values that each dimension allows by itself, the last dimension fastest and each one starting one
// further: products of unknowns, which the solver gives up on, are easy to hit by trying.
bool AssignmentSearch::search_base() {
  constexpr int kTries = 40'000;
  const std::vector<std::string>& names = space_.choosable();
  for (const std::string& name : names)
    if (domain(name).empty()) return false;
  std::vector<size_t> digits(names.size(), 0);
  for (int i = 0; i < kTries; ++i) {
    Assignment given;
    for (size_t k = 0; k < names.size(); ++k) {
      const std::vector<int64_t>& values = domain(names[k]);
      given[names[k]] = values[(digits[k] + k) % values.size()];
    }
    if (std::optional<Assignment> all = accepted(given)) {
      base_ = *all;
      return true;
    }
    size_t k = names.size();
    while (k > 0 && ++digits[k - 1] == domain(names[k - 1]).size()) digits[--k] = 0;
    if (k == 0) return false;
  }
  return false;
}

bool AssignmentSearch::solve_base() {
  for (int64_t least : {2, 1, 0})
    for (int64_t most : {8, 64, 1024, 1 << 20}) {
      ContractSolver::Query query;
      for (const std::string& name : space_.all())
        if (space_.is_size(name) && space_.fixed_by(name) < 0) {
          query.at_least[name] = least;
          query.at_most[name] = most;
        }
      const ContractSolver::Solution solution = solver_.solve(query);
      if (solution.answer != ContractSolver::Answer::kYes) continue;
      if (std::optional<Assignment> all = accepted(solution.values)) {
        base_ = *all;
        return true;
      }
    }
  return false;
}

// Every other dimension as in the base, then at the first values of its own; then the solver.
std::optional<Assignment> AssignmentSearch::with(const std::string& name, int64_t value, bool limited, bool solve) {
  if (!allowed_alone(name, value)) return std::nullopt;
  Assignment given;
  for (const std::string& other : space_.choosable()) given[other] = base_[other];
  given[name] = value;
  if (std::optional<Assignment> all = accepted(given, limited)) return all;
  const std::vector<std::string>& others = related(name);
  // Relations between sizes mostly hold when they are equal or nearly so: n <= x.size(0), x.size(0) < x.size(1).
  for (int64_t near : {value, value + 1, value - 1}) {
    for (const std::string& other : others) given[other] = near;
    if (std::optional<Assignment> all = accepted(given, limited)) return all;
  }
  constexpr int kTries = 100;
  std::vector<size_t> digits(others.size(), 0);
  for (int i = 0; i < kTries; ++i) {
    for (size_t k = 0; k < others.size(); ++k)
      if (!domain(others[k]).empty()) given[others[k]] = domain(others[k])[digits[k]];
    if (std::optional<Assignment> all = accepted(given, limited)) return all;
    size_t k = others.size();
    while (k > 0 && ++digits[k - 1] >= domain(others[k - 1]).size()) digits[--k] = 0;
    if (k == 0) break;
  }
  if (!solve || needs_no_solver(name)) return std::nullopt;
  for (int64_t most : {int64_t{8}, int64_t{128}, kSizeFar}) {
    ContractSolver::Query query;
    query.fixed[name] = value;
    for (const std::string& other : others)
      if (space_.is_size(other)) query.at_most[other] = most;
    const ContractSolver::Solution solution = solver_.solve(query);
    if (solution.answer != ContractSolver::Answer::kYes) continue;
    if (std::optional<Assignment> all = accepted(solution.values, limited)) return all;
  }
  return std::nullopt;
}

bool AssignmentSearch::needs_no_solver(const std::string& name) { return related(name).empty(); }

const std::vector<std::string>& AssignmentSearch::related(const std::string& name) {
  const auto [it, added] = related_.try_emplace(name);
  if (!added) return it->second;
  std::set<std::string> found;
  for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i) {
    if (!space_.is_checked(i)) continue;
    const std::set<std::string> names = deciding_dimensions_of(i);
    if (names.contains(name)) found.insert(names.begin(), names.end());
  }
  for (const std::string& other : space_.choosable())
    if (other != name && found.contains(other)) it->second.push_back(other);
  return it->second;
}

// Fixed dimensions count as those that decide them; the condition that fixes a dimension relates nothing by itself when
// it only says that two are equal.
std::set<std::string> AssignmentSearch::deciding_dimensions_of(int condition) const {
  std::set<std::string> out, open = dimensions_of(condition);
  for (size_t round = 0; round <= contract_.conditions.size() && !open.empty(); ++round) {
    std::set<std::string> next;
    for (const std::string& name : open) {
      const int fixed_by = space_.fixed_by(name);
      if (fixed_by < 0)
        out.insert(name);
      else
        for (const std::string& other : dimensions_of(fixed_by))
          if (other != name) next.insert(other);
    }
    open = std::move(next);
  }
  return out;
}

std::pair<int64_t, std::optional<int64_t>> AssignmentSearch::stated_bounds(const std::string& name) const {
  int64_t min = space_.is_size(name) ? 0 : -kSizeFar;
  std::optional<int64_t> max;
  for (int i = 0; i < static_cast<int>(contract_.conditions.size()); ++i) {
    if (!space_.is_checked(i)) continue;
    const std::optional<LinearBound> bound = linear_bound(contract_.conditions[i].expr);
    if (!bound || bound->dimension != name) continue;
    if (bound->lower)
      min = std::max(min, bound->limit);
    else
      max = std::min(max.value_or(bound->limit), bound->limit);
  }
  return {min, max};
}

}  // namespace aotifuzz
