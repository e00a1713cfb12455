#pragma once

#include <optional>
#include <string>

#include "campaign/case_executor.h"
#include "campaign/triage.h"
#include "core/audit_report.h"

namespace aotifuzz {

/// How the package took one case in one mode.
struct AuditTrial {
  enum class Answer {
    kRefused,    ///< the package raised an error
    kRight,      ///< it returned a result, and nothing that was judged is wrong with it
    kHarm,       ///< it returned something wrong, touched memory that is not its own, or ended its process: `harm`
    kNotJudged,  ///< nobody can say: `reason`
  };
  Answer answer = Answer::kNotJudged;
  std::optional<Verdict> harm;     ///< the worst
  bool reference_accepts = false;  ///< the reference ran and finished
  std::string reason;
};

/// Runs `c` `runs` times with input checks off or on, whatever it says itself, and judges it. The second run lies
/// against the other end of its memory, and tells what is unstable. A refusal that leaves inputs changed is harm. A
/// result that is right although the contract forbids the input ("lucky") is right.
AuditTrial try_case(const TriageContext& context, CaseExecutor& executor, Case c, ChecksMode checks, int runs = 2);

/// The failed verdict that an audit calls unsafe; null when there is none.
const Verdict* harm_among(const std::vector<Verdict>& verdicts);

}  // namespace aotifuzz
