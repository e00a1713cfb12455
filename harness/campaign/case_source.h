#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"

namespace aotifuzz {

/// Where a campaign's cases come from. The same source gives the same cases, byte for byte; draw() depends on `k`
/// alone, so a campaign can go on where an earlier one stopped. Safe to share between threads.
class CaseSource {
 public:
  virtual ~CaseSource() = default;
  /// Run at the beginning of each run of a campaign, before anything else: cases that the user gives.
  virtual std::vector<Case> given() const { return {}; }
  /// Tried first: edges of the contract, computed once.
  virtual std::vector<Case> seeds() const = 0;
  virtual Case draw(uint64_t k) const = 0;
  /// What is special about how it draws, for reports: "no checks, special x4"; "" = nothing.
  virtual std::string draws() const { return ""; }

  // For guided campaigns. Cases of other origin are taken for what they are: text from a folder that others write to.
  /// Whether `c` has the inputs of this source's program, so that it can be built upon.
  virtual bool fits(const Case& c) const { return true; }
  /// A case near `c`, which fits; now and then one that has nothing of it.
  virtual Case mutate(const Case& c, uint64_t seed) const { return draw(seed); }
  /// A case with something of both, which fit.
  virtual Case cross(const Case& c, const Case& other, uint64_t seed) const { return draw(seed); }
};

}  // namespace aotifuzz
