#pragma once

#include "core/reducer_pass.h"

namespace aotifuzz {

/// Layouts toward plain: own storage, the exported strides (dense where they are), no offset, aligned. All inputs at
/// once, then one input, then one property.
class LayoutsPass final : public ReducerPass {
 public:
  std::string_view name() const override { return "layouts"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

}  // namespace aotifuzz
