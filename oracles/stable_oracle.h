#pragma once

#include <optional>

#include "oracles/oracle.h"

namespace aotifuzz {

/// Two runs of the package on copies of the same input: bitwise equal outputs and inputs afterwards, NaN equal to NaN.
/// Between them memory differs: what fresh memory holds, and in every other run which end of a buffer lies where. When
/// results differ, further runs change one of these at a time.
///
/// Exempt: outputs that depend on a random op; elements that depend on undefined results (the referee says which);
///         differences that come with the alignment of buffers alone, which products round by.
/// Skips:  no second run, a run did not finish; an illegal input, unless memory never written was read.
/// Fails:  memory-fault when nothing but what fresh memory holds makes the difference (fault, or gap on illegal
///         input), else unstable (fault).
class StableOracle final : public Oracle {
 public:
  std::string_view name() const override { return "stable"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;

 private:
  std::optional<Judgement> judge_pair(const CaseContext& context, const RunRecords& runs, const RunRecord& subject,
                                      const RunRecord& again) const;
};

}  // namespace aotifuzz
