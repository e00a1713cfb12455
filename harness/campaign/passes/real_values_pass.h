#pragma once

#include "core/reducer_pass.h"

namespace aotifuzz {

/// Values of files toward recipes that keep what may matter about them: one element, the range, the distinct values,
/// the order. What the values pass proposes of any recipe comes before.
class RealValuesPass final : public ReducerPass {
 public:
  static constexpr int64_t kElementsMax = 1 << 20;  ///< looked at
  static constexpr size_t kDistinctMax = 8;
  std::string_view name() const override { return "real_values"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

}  // namespace aotifuzz
