#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "oracles/program_facts.h"
#include "oracles/referee_runs.h"

namespace aotifuzz {

/// Whether a tensor of the package differs from the reference's beyond what any legal order of arithmetic produces.
struct TensorQuestion {
  at::Tensor expected, actual;  ///< same dtype and sizes
  const OutputFacts* facts = nullptr;
  /// The same tensor of another reference run (float64 there); undefined when it has none.
  std::function<at::Tensor(const RunRecord&)> pick;
  const RunRecord* reference = nullptr;  ///< holds the operands of arg-reductions
  /// Also question elements that passed only thanks to the part of the quick bound that is relative to the whole
  /// tensor.
  bool thorough = false;
};

struct TensorAnswer {
  enum class Kind {
    kAgrees,
    kDiffers,
    kNeedsRuns,  ///< ask for the next referee stage
    kUnjudged,   ///< no referee could say: `reason`
  };
  Kind kind = Kind::kAgrees;
  std::string reason;
  int64_t differing = 0, total = 0;  ///< elements beyond what is permitted
  int64_t exempt = 0;                ///< elements that depend on undefined results
  bool constant = false;             ///< as QuickResult::constant: agreement proves little
  double nearness = 0;               ///< kAgrees: as kNearness of core/verdict.h; 0: no difference
  bool special = false;              ///< every differing element involves NaN, an infinity or an integer's least value
  // The first differing element.
  std::string index, expected, actual, centre, permitted, error;
};

/// Numbers:  |actual - R| <= 4 max_k |S_k - R| + 2 ulp + the least normal float32, with R the float64 run and S_k runs
/// with legal rounding; or no
///           further from R than eager is. NaN, infinities: where E, R or some S_k has the same, or R is at least half
///           of the dtype's greatest value.
/// Discrete: equal to E, R or some S_k, or between such values where these differ (a near tie upstream).
/// Positions (argmax, topk, sort): by the value found there in the operand.
/// Undefined results: elements that differ between R and runs that draw them are exempt.
TensorAnswer judge_tensor(const TensorQuestion& question, const RefereeRuns& referee);

}  // namespace aotifuzz
