#pragma once

#include "core/reducer_pass.h"

namespace aotifuzz {

/// Value recipes toward 0, 1, a ramp, a single non-zero element, small integers. All inputs at once, then each.
class ValuesPass final : public ReducerPass {
 public:
  std::string_view name() const override { return "values"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

/// Values element by element: patches dropped, short tensors written out, each number toward 0 and 1, seeds toward 1.
class ElementsPass final : public ReducerPass {
 public:
  static constexpr int64_t kListMax = 8;  ///< longer lists are no easier to read than a recipe
  std::string_view name() const override { return "elements"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

}  // namespace aotifuzz
