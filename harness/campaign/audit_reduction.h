#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "campaign/audit_runner.h"
#include "core/audit_report.h"

namespace aotifuzz {

/// An unsafe line that was confirmed, and what its case must keep: what the row is about. Conditions that it breaks are
/// kept anyway.
struct AuditReducible {
  AuditLine* line = nullptr;
  Case original;
  std::function<bool(const Case&)> shows;  ///< null: any case with the same finding
};

struct AuditReductions {
  int lines = 0;        ///< whose case was reduced as far as it goes
  int cut_short = 0;    ///< by time or number of runs; their case is the simplest found so far
  int unconfirmed = 0;  ///< left as they were: the simpler case did not come each time in fresh processes
  int runs = 0;         ///< of candidates, confirmations included
};

/// Replaces each line's case by the simplest one that fails in the same way and still shows its row, each confirmed by
/// `confirm_runs` runs in fresh processes. Shares what time the runner has left among the lines. `written` is called
/// for each line whose case changed.
AuditReductions reduce_lines(AuditRunner& runner, std::vector<AuditReducible>& lines, int confirm_runs,
                             const std::function<void(const AuditReducible&)>& written);

}  // namespace aotifuzz
