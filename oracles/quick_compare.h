#pragma once

#include <cstdint>
#include <vector>

#include "oracles/host_values.h"
#include "oracles/program_facts.h"

namespace aotifuzz {

/// First look at one output: what it passes needs no referee. Same dtype and element count on both sides.
///
/// Floating: |actual - expected| <= u (2 + 2 b) |expected|, b = the output's rounding budget, capped; with no rounding
/// op
///           on the way (b = 0) equal. Outputs with a reduction also get u (2 + 2 b) rms(expected). Equal infinities,
///           NaN with NaN, zeros of either sign agree.
/// Others:   equal.
struct QuickResult {
  std::vector<int64_t> suspects;       ///< elements that did not pass, ascending
  std::vector<int64_t> only_absolute;  ///< passed thanks to the rms part alone
  double share = 0;                    ///< largest difference that passed over its bound, 0..1
  bool constant = true;                ///< several equal elements, a lone zero or NaN, or no element at all
};
QuickResult quick_compare(const HostValues& expected, const HostValues& actual, const OutputFacts& facts);

}  // namespace aotifuzz
