#pragma once

#include "oracles/oracle.h"

namespace aotifuzz {

/// Bytes around its buffers that a run of the package changed without dying of it. What the guard stops at once ends
/// the process, and is judged by the parent instead.
///
/// Skips: no run of the package.
/// Fails: memory-fault (fault on legal input, else gap), for the first damage of each kind.
class MemoryOracle final : public Oracle {
 public:
  std::string_view name() const override { return "memory"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;
};

}  // namespace aotifuzz
