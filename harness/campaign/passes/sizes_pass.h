#pragma once

#include "core/reducer_pass.h"

namespace aotifuzz {

/// Sizes toward their least, by halving the distance: all at once, then each alone, then pairs by the same amount (for
/// faults that need two sizes to differ). Dimensions that the contract ties together move together.
class SizesPass final : public ReducerPass {
 public:
  std::string_view name() const override { return "sizes"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

/// Every smaller value of each size, from its least upward, so that what remains is the smallest and not only the end
/// of a slope. After SizesPass, when values are small; larger ones are left alone beyond kTries.
class SmallestSizesPass final : public ReducerPass {
 public:
  static constexpr int64_t kTries = 40;
  std::string_view name() const override { return "smallest_sizes"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

}  // namespace aotifuzz
