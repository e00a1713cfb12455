#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/choices.h"
#include "generators/layouts.h"
#include "generators/shape_model.h"
#include "package/contract_bounds.h"

namespace aotifuzz {

/// One way of leaving a contract, by exactly one violation.
struct Gap {
  enum class Kind : uint8_t { kSize, kLayout, kOverlap, kDtype, kZeroTensor, kRank, kScalar };
  static constexpr size_t kKinds = 7;
  Kind kind = Kind::kSize;
  int input = -1;
  int other = -1;     ///< kOverlap: the earlier input
  int dim = -1;       ///< kSize without `breaking`: the dimension that is changed
  int breaking = -1;  ///< kSize: index into ContractBounds::breaking
  LayoutKind layout = LayoutKind::kTransposed;
  OverlapKind overlap = OverlapKind::kSameTensor;
  Dtype dtype = Dtype::kUnknown;
  Case example;  ///< small; breaks exactly one condition
};

/// The ways that are open for one contract, each tried out: a way without an example is not listed. Immutable.
class GapTable {
 public:
  GapTable(const ShapeModel& model, const ContractBounds& bounds);
  const std::vector<Gap>& gaps() const { return gaps_; }
  bool empty() const { return gaps_.empty(); }

  /// A case that breaks exactly one condition, in the way of `gap`; its values are plain. Falls back on the example
  /// after a few tries.
  Case draw(Choices& choices, const Gap& gap, const ShapeModel& model) const;

  using KindWeights = std::array<int, Gap::kKinds>;
  /// Draws a kind by weight, then a gap of that kind. At least one gap must have a positive weight.
  const Gap& pick(Choices& choices, const KindWeights& weights) const;
  bool has_any(const KindWeights& weights) const;

 private:
  void add(const ShapeModel& model, Gap gap);
  std::optional<Case> attempt(Choices& choices, const Gap& gap, const ShapeModel& model) const;

  std::vector<ContractBounds::Breaking> breaking_;
  std::vector<Gap> gaps_;
  std::array<std::vector<size_t>, Gap::kKinds> by_kind_;  ///< indices into gaps_
};

}  // namespace aotifuzz
