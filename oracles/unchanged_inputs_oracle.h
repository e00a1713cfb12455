#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Inputs after the run, on legal inputs: those that the program does not write are bitwise as before (NaN payloads and
/// signs of zero included), those that it writes hold what the reference wrote, judged like outputs.
/// A call that the package refuses must leave every input as it was; with inputs outside the contract that is a gap.
/// Fails: input-changed (fault).
class UnchangedInputsOracle final : public Oracle {
 public:
  std::string_view name() const override { return "unchanged_inputs"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

}  // namespace aotifuzz
