#include "campaign/allocator_modes.h"

namespace aotifuzz {

std::string shows_without_guard(const TriageContext& context, CaseExecutor& plain, const Case& c) {
  plain.renew();
  const std::vector<Verdict> verdicts = judge_result(context, c, plain.run(c));
  std::string shown, skipped;
  bool judged = false;
  for (const Verdict& verdict : verdicts) {
    if (verdict.status == VerdictStatus::kFail)
      shown += (shown.empty() ? "" : "; ") + verdict.signature;
    else if (verdict.status == VerdictStatus::kSkip)
      skipped = verdict.reason;
    else
      judged = true;
  }
  if (!shown.empty()) return shown;
  return judged || skipped.empty() ? "not noticed" : "not judged: " + skipped;
}

}  // namespace aotifuzz
