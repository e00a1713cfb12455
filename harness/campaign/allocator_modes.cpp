#include "campaign/allocator_modes.h"

#include "core/error.h"

namespace aotifuzz {

std::string shows_without_guard(const TriageContext& context, CaseExecutor& plain, const Case& c) {
  std::vector<Verdict> verdicts;
  try {
    plain.renew();
    verdicts = judge_result(context, c, plain.run(c));
  } catch (const HarnessError& error) {
    // No room for a further worker, most likely: no reason to end the campaign.
    const std::string why = error.what();
    return "not judged: " + why.substr(0, why.find('\n'));
  }
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
