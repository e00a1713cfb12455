#pragma once

#include <span>
#include <string_view>

#include "core/verdict.h"
#include "tests/support/tiny_program.h"

namespace aotifuzz::testing {

/// A program with one output of each kind that oracles tell apart, on inputs with a NaN and without ties:
///   0 sums f32[5]   1 maxima f32[5]   2 positions of the maxima i64[5]   3 x + 1 f32[5,7]   4 x > 0 bool[5,7]
///   5 n + 1 i64[5]  6 bfloat16 chain bf16[5,7]
/// It writes input m (m += 1) and leaves x and n alone.
Scenario make_scenario();

/// One way in which a package can be wrong, applied to a run that is right.
struct PlantedFault {
  std::string_view name;
  std::string_view oracle;  ///< that must fail
  VerdictClass cls;
  /// Changes outputs or inputs afterwards; works on float64 records too, so that either side can be the odd one.
  void (*plant)(RunRecord& record);
  bool one_sided = false;  ///< has no mirror image (rejection, a second run that differs...)
};
std::span<const PlantedFault> planted_faults();

}  // namespace aotifuzz::testing
