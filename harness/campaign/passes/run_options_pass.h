#pragma once

#include "core/reducer_pass.h"

namespace aotifuzz {

/// Fewer runs, one thread, input checks off: each run less halves the cost of every later candidate, so this goes
/// first.
class RunOptionsPass final : public ReducerPass {
 public:
  std::string_view name() const override { return "run_options"; }
  std::vector<Case> propose(const Case& c, const Contract& contract) const override;
};

}  // namespace aotifuzz
