#pragma once

#include <optional>
#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "campaign/triage.h"

namespace aotifuzz {

/// How often a failed verdict came again in fresh processes.
struct Confirmation {
  int reproduced = 0;
  int tries = 0;
  std::optional<Verdict> verdict;  ///< as it came in the replays
  std::vector<Case> before;        ///< what had to run first in the same process; empty: the case alone
};

/// Replays `c` `tries` times, each in a process of its own, and counts verdicts with `key`. When the case alone never
/// shows it, the cases that ran before it in the same process (`earlier`, oldest first) are the suspects: the one that
/// makes it show again is returned in `before`.
Confirmation confirm(const TriageContext& context, CaseExecutor& executor, const Case& c, const std::string& key,
                     const std::vector<Case>& earlier, int tries);

/// One run of `before`, then `c`, in one fresh process: the verdict with `key`, if it came.
std::optional<Verdict> replay_once(const TriageContext& context, CaseExecutor& executor,
                                   const std::vector<Case>& before, const Case& c, const std::string& key);

}  // namespace aotifuzz
