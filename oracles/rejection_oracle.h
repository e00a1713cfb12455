#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Who refuses what, by how the runs ended; message texts are never compared.
///
/// rejects-legal: a legal input that the package refuses: a fault, with input checks on a gap.
/// misses-error:  the reference raises and the package returns something: a gap.
/// Passes:        both finish, both refuse, the package refuses what the contract does not allow.
/// Skips:         no reference, out of memory on either side.
class RejectionOracle final : public Oracle {
 public:
  std::string_view name() const override { return "rejection"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

}  // namespace aotifuzz
