#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "campaign/audit_runner.h"
#include "core/audit_probe.h"
#include "core/audit_report.h"
#include "package/compile_trace.h"
#include "package/contract_bounds.h"
#include "store/finding_file.h"

namespace aotifuzz {

/// What an audit works from; all of it must outlive it.
struct AuditSubjectMatter {
  const PackageInfo& info;
  TriageContext triage;
  const ContractBounds& bounds;
  std::vector<Case> bases;             ///< legal, plain; empty when none was found
  std::vector<AuditProbe> probes;      ///< by round
  std::vector<AuditUntried> untried;   ///< probes that could not be made
  std::function<void(Case&)> revalue;  ///< gives a case plain values that suit its sizes
  FindingContext context;              ///< for the folders of unsafe lines
  std::string package, model, torch;
  std::map<std::string, std::string> environment;
  std::function<void(Case&)> second_values;  ///< other values, where the reference raises with the plain ones
  const CompileTrace* trace = nullptr;       ///< gives lines the guards that they come of
};

struct AuditOptions {
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::chrono::milliseconds time{60'000};  ///< from `begun` on
  ChecksMode checks = ChecksMode::kOff;    ///< what counts as accepted
  int64_t elements_max = 1 << 20;          ///< of one input
  int confirm_runs = 3;                    ///< of an unsafe line, each in a fresh process; it must come each time
  std::string out;                         ///< folder for the cases of unsafe lines; "" = none are written
};

/// For each symbol, relation, layout and dtype: what the contract declares, what the package refuses (with input checks
/// off and on, by running cases at and beyond each edge), and where it was right. Ends within `options.time`; what was
/// left out is in the report. Throws HarnessError when a folder cannot be written.
AuditReport audit(const AuditSubjectMatter& subject, CaseExecutor& executor, const AuditOptions& options,
                  const std::function<void(const AuditProgress&)>& progress = {},
                  const std::function<bool()>& stop = {});

}  // namespace aotifuzz
