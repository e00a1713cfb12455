#include "package/breaking_search.h"

#include <algorithm>
#include <set>
#include <utility>

#include "package/size_relations.h"

namespace aotifuzz {
namespace {

constexpr size_t kAssignmentsMax = 6;  // per condition
constexpr size_t kSeedsMax = 8;

// Sums of absolute values order assignments; what exceeds the limit would only overflow.
int64_t magnitude(const Assignment& values) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  int64_t sum = 0;
  for (const auto& [name, value] : values) sum += std::clamp(value, -kLimit, kLimit) * (value < 0 ? -1 : 1);
  return sum;
}

}  // namespace

BreakingSearch::BreakingSearch(const DimensionSpace& space, ContractSolver& solver, std::vector<Assignment> seeds,
                               int64_t elements_max)
    : contract_(space.contract()),
      space_(space),
      solver_(solver),
      seeds_(std::move(seeds)),
      elements_max_(elements_max) {
  if (seeds_.size() > kSeedsMax) seeds_.resize(kSeedsMax);
}

std::vector<Assignment> BreakingSearch::find(int condition) {
  std::vector<Assignment> found;
  const Condition& broken = contract_.conditions[condition];
  std::set<std::string> names;
  broken.expr.collect_symbols(names);
  if (broken.kind == Condition::Kind::kSize && broken.expr.op() == ExprOp::kEq) break_fixed_size(condition, found);
  if (found.empty())
    for (const std::string& name : names) break_by_steps(condition, name, found);
  if (found.empty()) break_by_solver(condition, found);
  std::stable_sort(found.begin(), found.end(),
                   [](const Assignment& a, const Assignment& b) { return magnitude(a) < magnitude(b); });
  if (found.size() > kAssignmentsMax) found.resize(kAssignmentsMax);
  return found;
}

bool BreakingSearch::breaks_only(int index, const Assignment& values) const {
  for (const auto& [name, value] : values)
    if (value < 0 && name.find('.') != std::string::npos) return false;  // only a scalar may be negative
  const std::vector<int> broken = space_.broken(values, 2);
  return broken.size() == 1 && broken[0] == index && space_.elements(values) <= elements_max_;
}

void BreakingSearch::try_breaking(int index, const Assignment& given, std::vector<Assignment>& found) const {
  for (int64_t widening : {1, 2, 3}) {
    const std::optional<Assignment> all = space_.complete(given, widening);
    if (all && breaks_only(index, *all)) {
      if (std::find(found.begin(), found.end(), *all) == found.end()) found.push_back(*all);
      return;
    }
    if (!space_.has_free_strides()) return;
  }
}

// dimension == expression: one more, one less, 1 (broadcast), half, double, none; what follows from it stays as it was.
void BreakingSearch::break_fixed_size(int index, std::vector<Assignment>& found) const {
  const Expr& left = contract_.conditions[index].expr.args()[0];
  if (left.op() != ExprOp::kSymbol || space_.fixed_by(left.name()) != index) return;
  for (const Assignment& seed : seeds_) {
    const int64_t right = seed.at(left.name());
    for (int64_t value : {right + 1, right - 1, int64_t{1}, right / 2, right * 2, int64_t{0}}) {
      Assignment given = seed;
      given[left.name()] = value;
      try_breaking(index, given, found);
    }
    if (found.size() >= kAssignmentsMax) return;
  }
}

// Only what can be chosen, so that the rest follows a changed dimension.
Assignment BreakingSearch::free_part(const Assignment& all) const {
  Assignment out;
  for (const std::string& name : space_.choosable())
    if (const auto it = all.find(name); it != all.end()) out[name] = it->second;
  return out;
}

// The nearest values of one dimension, outward from assignments that satisfy everything.
void BreakingSearch::break_by_steps(int index, const std::string& name, std::vector<Assignment>& found) const {
  if (space_.fixed_by(name) >= 0) return;
  constexpr size_t kPerSeed = 2;
  // Every near value, then ever farther ones.
  constexpr int64_t kDistances[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 25, 50, 100, 200, 500, 1000};
  const size_t already = found.size();
  for (const Assignment& seed : seeds_near_limits(index, name)) {
    const auto base = seed.find(name);
    if (base == seed.end()) continue;
    const size_t before = found.size();
    for (int64_t distance : kDistances) {
      if (found.size() >= before + kPerSeed) break;
      for (int64_t value : {base->second + distance, base->second - distance}) {
        Assignment given = free_part(seed);
        given[name] = value;
        try_breaking(index, given, found);
      }
    }
    // Far from a multiple as well: 250 for x % 100 == 0.
    Assignment given = free_part(seed);
    given[name] = base->second + base->second / 4;
    try_breaking(index, given, found);
    if (found.size() >= already + kAssignmentsMax) return;
  }
}

// Satisfying assignments with `name` at the limit that the condition states, then the usual ones.
std::vector<Assignment> BreakingSearch::seeds_near_limits(int index, const std::string& name) const {
  std::vector<Assignment> out;
  if (const std::optional<LinearBound> bound = linear_bound(contract_.conditions[index].expr);
      bound && bound->dimension == name) {
    Assignment given = free_part(seeds_[0]);
    given[name] = bound->limit;
    if (const std::optional<Assignment> all = space_.complete(given)) out.push_back(*all);
  }
  out.insert(out.end(), seeds_.begin(), seeds_.end());
  return out;
}

void BreakingSearch::break_by_solver(int index, std::vector<Assignment>& found) {
  for (int64_t most : {int64_t{8}, int64_t{128}, int64_t{4096}}) {
    ContractSolver::Query query;
    query.broken = index;
    for (const std::string& name : space_.all())
      if (space_.is_size(name)) query.at_most[name] = most;
    const ContractSolver::Solution solution = solver_.solve(query);
    if (solution.answer == ContractSolver::Answer::kYes) try_breaking(index, solution.values, found);
    if (!found.empty()) return;
  }
}

}  // namespace aotifuzz
