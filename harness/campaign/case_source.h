#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"

namespace aotifuzz {

/// Where a campaign's cases come from. The same source gives the same cases, byte for byte; draw() depends on `k`
/// alone, so a campaign can go on where an earlier one stopped.
class CaseSource {
 public:
  virtual ~CaseSource() = default;
  /// Tried first: edges of the contract, computed once.
  virtual std::vector<Case> seeds() const = 0;
  virtual Case draw(uint64_t k) const = 0;
};

}  // namespace aotifuzz
