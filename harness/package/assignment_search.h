#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "package/contract_solver.h"
#include "package/dimension_space.h"

namespace aotifuzz {

/// A size that exceeds this counts as unbounded.
inline constexpr int64_t kSizeFar = int64_t{1} << 31;

/// Finds assignments that satisfy a contract: first by trying small values, then by asking the solver.
class AssignmentSearch {
 public:
  /// Both must outlive the search. `elements_max`: largest count of elements of one input.
  AssignmentSearch(const DimensionSpace& space, ContractSolver& solver, int64_t elements_max)
      : contract_(space.contract()), space_(space), solver_(solver), elements_max_(elements_max) {}

  /// A small satisfying assignment to start from, distinct values from 2 up if possible; false when none was found.
  bool find_base();
  const Assignment& base() const { return base_; }

  /// `given` completed, if it satisfies everything (and, `limited`, fits into the memory).
  std::optional<Assignment> accepted(const Assignment& given, bool limited = true) const;
  /// An assignment with `name` at `value` and the others as small as possible. Needs the base.
  std::optional<Assignment> with(const std::string& name, int64_t value, bool limited, bool solve = true);

  /// The first values that the conditions on `name` alone allow, those from 2 up first: 0 and 1 hide nearly everything.
  const std::vector<int64_t>& domain(const std::string& name);
  /// Bounds that single conditions put on `name`.
  std::pair<int64_t, std::optional<int64_t>> stated_bounds(const std::string& name) const;
  /// Whether no condition ties `name` to another choosable dimension: what was not found by trying does not exist then.
  bool needs_no_solver(const std::string& name);
  /// Dimensions that a condition speaks of.
  std::set<std::string> dimensions_of(int condition) const;

 private:
  bool search_base();
  bool solve_base();
  /// Choosable dimensions that share a condition with `name`.
  const std::vector<std::string>& related(const std::string& name);
  std::set<std::string> deciding_dimensions_of(int condition) const;
  bool allowed_alone(const std::string& name, int64_t value);

  const Contract& contract_;
  const DimensionSpace& space_;
  ContractSolver& solver_;
  const int64_t elements_max_;
  Assignment base_;
  std::map<std::string, std::vector<std::string>> related_;
  std::map<std::string, std::vector<int64_t>> domains_;
  std::map<std::string, std::vector<int>> only_about_;  ///< conditions about one dimension alone
};

}  // namespace aotifuzz
