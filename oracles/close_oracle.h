#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Does the case ask for a look at elements that a tensor-wide tolerance let pass (TensorQuestion::thorough)?
bool is_thorough(const Case& c);

/// Numeric agreement of outputs between package and reference; see output_judge.h for the rule.
///
/// Legal inputs:   wrong-result (fault): "wrong-result output 1 aten.max.dim".
/// Illegal inputs: both sides ran outside the contract, accepts-illegal (gap): "silent" when a result differs, be it an
///                 output, its shape or dtype, or an input afterwards; "lucky" when all agree.
/// Skips:          no reference; a run did not finish; sizes or dtypes differ on a legal input (metadata reports that).
/// Mistrusted:     outputs that depend on a random op, disagreement without a referee, agreement that proves little
///                 because every output is empty or one constant.
/// Measures:       output, differing, index, expected, actual, float64, permitted, error, in this order.
class CloseOracle final : public Oracle {
 public:
  std::string_view name() const override { return "close"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

}  // namespace aotifuzz
