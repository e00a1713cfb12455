#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

Verdict make(std::string_view oracle, VerdictStatus status, std::string reason) {
  Verdict verdict;
  verdict.oracle = oracle;
  verdict.status = status;
  verdict.reason = std::move(reason);
  return verdict;
}

}  // namespace

Verdict pass_verdict(std::string_view oracle) { return make(oracle, VerdictStatus::kPass, ""); }
Verdict skip_verdict(std::string_view oracle, std::string reason) {
  return make(oracle, VerdictStatus::kSkip, std::move(reason));
}
Verdict mistrusted_verdict(std::string_view oracle, std::string reason) {
  return make(oracle, VerdictStatus::kMistrusted, std::move(reason));
}

Verdict fail_verdict(std::string_view oracle, VerdictClass cls, bool fault, std::string reason,
                     std::string_view signature) {
  Verdict verdict = make(oracle, VerdictStatus::kFail, std::move(reason));
  verdict.cls = cls;
  verdict.fault = fault;
  verdict.signature = std::string(verdict_class_name(cls));
  if (!signature.empty()) verdict.signature.append(" ").append(signature);
  return verdict;
}

Judgement ask(std::vector<RunRequest> more_runs) {
  Judgement judgement;
  judgement.more_runs = std::move(more_runs);
  return judgement;
}

Judgement only(Verdict verdict) {
  Judgement judgement;
  judgement.verdicts.push_back(std::move(verdict));
  return judgement;
}

bool finished(const RunRecord* record) { return record && record->outcome.kind == OutcomeKind::kFinished; }

bool may_be_legal(const CaseContext& context, const RunRecords& runs) {
  return context.violations.empty() && (!context.has_reference || finished(runs.find(RunKind::kReference)));
}

bool is_legal(const CaseContext& context, const RunRecords& runs) {
  return context.has_reference && may_be_legal(context, runs);
}

std::string why_not_comparable(const RunRecords& runs, RunKind first, RunKind second) {
  for (RunKind kind : {first, second}) {
    const RunRecord* record = runs.find(kind);
    if (!record) return "no run: " + std::string(run_name(kind));
    if (!finished(record))
      return std::string(run_name(kind)) + " " + std::string(outcome_kind_name(record->outcome.kind));
  }
  return "";
}

}  // namespace aotifuzz
