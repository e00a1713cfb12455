#pragma once

#include <string_view>
#include <vector>

#include "core/case.h"
#include "core/contract.h"

namespace aotifuzz {

/// One way of proposing simpler cases. The search, the cache and the predicate live once, in campaign/reducer.
class ReducerPass {
 public:
  virtual ~ReducerPass() = default;
  virtual std::string_view name() const = 0;
  /// Candidates that are simpler than `c`, boldest first; empty when this pass has nothing left to propose.
  virtual std::vector<Case> propose(const Case& c, const Contract& contract) const = 0;
};

}  // namespace aotifuzz
