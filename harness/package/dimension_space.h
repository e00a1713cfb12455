#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/contract.h"
#include "package/contract_bounds.h"

namespace aotifuzz {

/// The dimensions that a contract speaks of, and which of them can be chosen freely: the others follow from a condition
/// "dimension == expression". Checks assignments by evaluating the conditions, without a solver.
class DimensionSpace {
 public:
  explicit DimensionSpace(const Contract& contract);

  const Contract& contract() const { return contract_; }
  const std::vector<std::string>& all() const { return all_; }  ///< sizes of every input, free strides, int scalars
  /// Not fixed by a condition: sizes and scalars, and apart from them the strides and offsets that export left open.
  const std::vector<std::string>& choosable() const { return choosable_; }
  const std::vector<std::string>& free_strides() const { return free_strides_; }
  bool has_free_strides() const { return !free_strides_.empty(); }
  bool is_size(const std::string& name) const { return sizes_.contains(name); }
  /// The condition that fixes `name`; -1 for a free one.
  int fixed_by(const std::string& name) const;
  /// Conditions that are not checked: opaque parts, or something that is no dimension of the contract.
  bool is_checked(int condition) const { return checked_[condition]; }

  /// Completes an assignment of choosable dimensions; a dimension that is already there stays. Free strides become
  /// `widening` times the dense ones. nullopt when one is undefined.
  std::optional<Assignment> complete(Assignment given, int64_t widening = 1) const;
  /// A complete assignment: nullopt when undefined (a division by zero).
  std::optional<bool> holds(int condition, const Assignment& values) const;
  /// Index of the conditions that fail or are undefined, at most `most` of them.
  std::vector<int> broken(const Assignment& values, size_t most) const;
  /// Whether every condition holds and no size is negative (y.size(0) == x.size(0) - 1 with x empty).
  bool satisfies(const Assignment& values) const;
  /// Largest count of elements among the inputs; saturates.
  int64_t elements(const Assignment& values) const;

 private:
  std::optional<Assignment> follow(Assignment given) const;
  int64_t dense_stride(const std::string& name, const Assignment& values) const;

  const Contract& contract_;
  std::vector<std::string> all_, choosable_, free_strides_;
  std::set<std::string> sizes_;
  std::map<std::string, int> fixed_by_;
  std::vector<bool> checked_;
  std::vector<std::vector<std::string>> input_sizes_;  ///< names, by input
};

}  // namespace aotifuzz
