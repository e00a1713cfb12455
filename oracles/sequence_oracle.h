#pragma once

#include <optional>

#include "oracles/oracle.h"

namespace aotifuzz {

/// What the package gives does not depend on what else it is called for: its outputs and inputs afterwards are bit for
/// bit those of the first run after the further calls of the case (A, B, A), and from each of several threads that make
/// all these calls at the same time. Memory is laid out and filled as in the first run.
///
/// Exempt: outputs that depend on a random op; elements that depend on undefined results (the referee says which).
/// Skips:  a further call that is not legal; several callers where the program writes buffers or on a device; a first
///         run that did not finish or does not repeat itself with nothing in between; an illegal input; out of memory.
/// Fails:  unstable (fault).
class SequenceOracle final : public Oracle {
 public:
  std::string_view name() const override { return "sequence"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;

 private:
  Judgement judge_run(const CaseContext& context, const RunRecords& runs, const RunRecord& subject,
                      const RunRecord& later) const;
};

}  // namespace aotifuzz
