#include "campaign/audit_trial.h"

#include <algorithm>

namespace aotifuzz {
namespace {

bool is_lucky(const Verdict& verdict) {
  return verdict.cls == VerdictClass::kAcceptsIllegal && verdict.signature.ends_with(" lucky");
}

}  // namespace

const Verdict* harm_among(const std::vector<Verdict>& verdicts) {
  const Verdict* worst = nullptr;
  for (const Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::kFail || verdict.cls == VerdictClass::kRejectsLegal) continue;
    // What no output shows concerns the kernels and not whoever calls the package.
    if (is_lucky(verdict) || is_hidden(verdict)) continue;
    if (!worst || finding_rank(verdict) < finding_rank(*worst)) worst = &verdict;
  }
  return worst;
}

AuditTrial try_case(const TriageContext& context, CaseExecutor& executor, Case c, ChecksMode checks, int runs) {
  c.input_checks = checks == ChecksMode::kOn;
  c.runs = runs;
  const CaseResult result = executor.run(c);
  const std::vector<Verdict> verdicts = judge_result(context, c, result);
  AuditTrial trial;
  if (result.report) trial.reference_accepts = result.report->reference_accepts;
  if (result.death) trial.reference_accepts = result.death->reference_accepts;
  if (const Verdict* harm = harm_among(verdicts)) {
    trial.answer = AuditTrial::Answer::kHarm;
    trial.harm = *harm;
    return trial;
  }
  if (!result.report) {
    trial.reason = verdicts.empty() ? "no result" : verdicts.front().reason;
    return trial;
  }
  for (const RunSummary& run : result.report->runs) {
    if (run.run != "subject") continue;
    if (run.outcome.kind == OutcomeKind::kRejected) {
      trial.answer = AuditTrial::Answer::kRefused;
      return trial;
    }
    if (run.outcome.kind == OutcomeKind::kFinished) {
      const bool judged = std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
        return verdict.status == VerdictStatus::kPass || is_lucky(verdict);
      });
      if (judged) trial.answer = AuditTrial::Answer::kRight;
      for (const Verdict& verdict : verdicts)
        if (!judged && trial.reason.empty()) trial.reason = verdict.reason;
      return trial;
    }
    trial.reason = std::string(outcome_kind_name(run.outcome.kind));
  }
  if (trial.reason.empty()) trial.reason = "the package did not run";
  return trial;
}

}  // namespace aotifuzz
