#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "package/contract_solver.h"
#include "package/dimension_space.h"

namespace aotifuzz {

/// Finds assignments that break one condition of a contract and no other, by as little as possible.
class BreakingSearch {
 public:
  /// Space and solver must outlive the search. `seeds`: satisfying assignments to step away from, at least one, small
  /// ones first; a few are used.
  BreakingSearch(const DimensionSpace& space, ContractSolver& solver, std::vector<Assignment> seeds,
                 int64_t elements_max);

  /// Smallest first; empty when nothing was found.
  std::vector<Assignment> find(int condition);

 private:
  bool breaks_only(int index, const Assignment& values) const;
  void try_breaking(int index, const Assignment& given, std::vector<Assignment>& found) const;
  void break_fixed_size(int index, std::vector<Assignment>& found) const;
  void break_by_steps(int index, const std::string& name, std::vector<Assignment>& found) const;
  void break_by_solver(int index, std::vector<Assignment>& found);
  Assignment free_part(const Assignment& all) const;
  std::vector<Assignment> seeds_near_limits(int index, const std::string& name) const;

  const Contract& contract_;
  const DimensionSpace& space_;
  ContractSolver& solver_;
  std::vector<Assignment> seeds_;
  const int64_t elements_max_;
};

}  // namespace aotifuzz
