#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "campaign/audit_runner.h"
#include "campaign/size_variables.h"
#include "package/contract_bounds.h"

namespace aotifuzz {

/// What was seen along one independent size, the others kept.
struct AuditAxis {
  std::string name;          ///< "x.size(0)"
  int64_t declared_min = 0;  ///< of the dimension named
  std::optional<int64_t> declared_max;
  std::map<int64_t, AuditAnswer> answers;  ///< by the dimension's value
  std::optional<int64_t> too_large;        ///< least value that was left out for its memory
  bool cut_short = false;                  ///< time was over before all values were tried
};

/// Tries sizes along each independent dimension of a legal case: first at the edges of what is declared, then where the
/// answer changes, which is pinned down by halving, then around the widths of vectors and tiles.
class AuditSizes {
 public:
  /// All must outlive it. `revalue` gives a case values that suit its sizes. `elements_max`: of one input.
  AuditSizes(AuditRunner& runner, const ContractBounds& bounds, const Case& base,
             const std::function<void(Case&)>& revalue, int64_t elements_max);

  /// Other values for a case of the contract at which the reference raises: it may be the values, not the size.
  void set_second_values(std::function<void(Case&)> second) { second_values_ = std::move(second); }
  /// Of try_edges those that the contract declares.
  void try_declared_edges() { try_edges(/*declared=*/true); }
  void try_edges() { try_edges(/*declared=*/false); }
  void try_widths();
  void pin_down();
  std::vector<AuditAxis> take() { return std::move(axes_); }

 private:
  void try_edges(bool declared);
  void try_value(size_t axis, int64_t value);

  AuditRunner& runner_;
  const ContractBounds& bounds_;
  const Case& base_;
  const std::function<void(Case&)>& revalue_;
  std::function<void(Case&)> second_values_;
  int64_t elements_max_;
  SizeVariables variables_;
  std::vector<AuditAxis> axes_;
  std::vector<std::set<int64_t>> tried_;  ///< values of the variable, which for 2*half is half
};

/// The tried values for which `holds`, neighbours among the tried ones drawn together: "0..1, 65..130"; "none".
std::string value_ranges(const AuditAxis& axis, const std::function<bool(const AuditAnswer&)>& holds);

/// The simplest condition on `dim` that every passing value keeps and no failing one does: "dim >= 8", "dim % 2 == 0".
/// Where none does: "dim <= the last one before the first failure". None when no value passes.
std::optional<Expr> guard_of_values(const std::string& dim, const std::map<int64_t, bool>& fails);

}  // namespace aotifuzz
