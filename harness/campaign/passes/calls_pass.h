#pragma once

#include "core/reducer_pass.h"

namespace aotifuzz {

/// No further calls, callers and other weights, then fewer: all calls but one half, all but one, each once, two callers.
class CallsPass final : public ReducerPass {
 public:
  std::string_view name() const override { return "calls"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

/// What is left of the further calls: each with the case's own inputs, then with sizes and values that other passes
/// propose.
class CallInputsPass final : public ReducerPass {
 public:
  std::string_view name() const override { return "call_inputs"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

}  // namespace aotifuzz
