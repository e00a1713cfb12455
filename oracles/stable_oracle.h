#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Two runs of the package on copies of the same input: bitwise equal outputs and inputs afterwards, NaN equal to NaN.
///
/// Exempt: outputs that depend on a random op; elements that depend on undefined results (the referee says which).
/// Skips:  no second run, a run did not finish, an illegal input (accepts-illegal then says that runs differ).
/// Fails:  unstable (fault).
class StableOracle final : public Oracle {
 public:
  std::string_view name() const override { return "stable"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

}  // namespace aotifuzz
