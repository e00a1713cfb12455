#pragma once

#include "oracles/output_judge.h"

namespace aotifuzz {

/// Judges positions (argmax, max.dim, topk, sort...) by what lies there in the reference's operand, never by equality:
/// the value must be the one that the reference's position has (NaN counts as a value), or differ from it by no more
/// than the operand itself may (a near tie); in range; without repetition along the dimension for sort and topk. Stable
/// sorts: exact ties keep their order.
TensorAnswer judge_positions(const TensorQuestion& question, const RefereeRuns& referee);

}  // namespace aotifuzz
