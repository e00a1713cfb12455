#include "oracles/stable_oracle.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "oracles/referee_runs.h"
#include "oracles/run_difference.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

bool out_of_memory(const RunRecord& run) { return run.outcome.kind == OutcomeKind::kOutOfMemory; }

/// Runs that tell why two runs differ: one thing is changed at a time.
class Experiment {
 public:
  Experiment(const CaseContext& context, const RunRecords& runs, const RunRecord& first, const RunRecord& later)
      : context_(context), runs_(runs), first_(first), later_(later), memory_(memory_of(later.request)) {}

  /// Does it only matter which end of a buffer lies where? Products round by alignment. False while runs are missing.
  bool is_placement(std::vector<RunRequest>* missing) const {
    if (!memory_.at_start) return false;
    const RunRecord* filled = find(filled_request(0), missing);
    const RunRecord* repeated = find(subject_with(memory_, 0), missing);
    return filled && repeated && same(first_, *filled) && same(later_, *repeated);
  }

  /// Does it only matter what fresh memory holds? Each way twice: what changes by itself is unstable, not unwritten.
  bool is_unwritten(std::vector<RunRequest>* missing) const {
    const RunRecord* first[] = {find(subject_with({}, 0), missing), find(subject_with({}, 1), missing)};
    const RunRecord* filled[] = {find(filled_request(0), missing), find(filled_request(1), missing)};
    if (!missing->empty()) return false;
    return same(first_, *first[0]) && same(first_, *first[1]) && same(*filled[0], *filled[1]) &&
           !same(first_, *filled[0]);
  }

 private:
  RunRequest filled_request(uint64_t repetition) const { return subject_with({memory_.pattern, false}, repetition); }
  const RunRecord* find(const RunRequest& request, std::vector<RunRequest>* missing) const {
    const RunRecord* run = runs_.find(request);
    if (!run) missing->push_back(request);
    return run;
  }
  bool same(const RunRecord& a, const RunRecord& b) const { return !run_difference(context_, a, b, nullptr); }

  const CaseContext& context_;
  const RunRecords& runs_;
  const RunRecord &first_, &later_;
  RunMemory memory_;
};

}  // namespace

std::vector<RunRequest> StableOracle::plan(const CaseContext& context) const {
  std::vector<RunRequest> out;
  if (context.input.runs < 2) return out;
  if (context.has_reference) out.push_back({RunKind::kReference, 0});
  out.push_back({RunKind::kSubject, 0});
  for (int run = 1; run < std::min(context.input.runs, kComparedRuns); ++run)
    out.push_back({RunKind::kSubjectAgain, static_cast<uint64_t>(run)});
  return out;
}

Judgement StableOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  const RunRecord* subject = runs.find(RunKind::kSubject);
  if (!subject) return only(skip_verdict(name(), "no run: subject"));
  if (!runs.find(RunKind::kSubjectAgain)) return only(skip_verdict(name(), "no run: subject-again"));
  const RunRecord* reference = context.has_reference ? runs.find(RunKind::kReference) : nullptr;
  if (context.has_reference && !reference) return only(skip_verdict(name(), "no run: reference"));

  for (const RunRecord& again : runs.all()) {
    if (again.request.kind != RunKind::kSubjectAgain || again.request.seed >= kChosenMemory) continue;
    if (std::optional<Judgement> judgement = judge_pair(context, runs, *subject, again)) return std::move(*judgement);
  }
  if (!context.violations.empty()) return only(skip_verdict(name(), "illegal input"));
  if (!may_be_legal(context, runs)) return only(skip_verdict(name(), "the reference did not finish"));
  if (!finished(subject))
    return only(skip_verdict(name(), "subject " + std::string(outcome_kind_name(subject->outcome.kind))));
  Judgement judgement = only(pass_verdict(name()));
  for (size_t i = 0; i < subject->outputs.size(); ++i)
    if (is_random_output(context, i)) {
      judgement.verdicts.push_back(mistrusted_verdict(name(), "random op: outputs that depend on it"));
      break;
    }
  return judgement;
}

/// None: nothing to say about this pair.
std::optional<Judgement> StableOracle::judge_pair(const CaseContext& context, const RunRecords& runs,
                                                  const RunRecord& subject, const RunRecord& again) const {
  std::optional<RunDifference> found = run_difference(context, subject, again, nullptr);
  if (!found) return std::nullopt;
  if (out_of_memory(subject) || out_of_memory(again)) return only(skip_verdict(name(), "out-of-memory"));
  if (found->output && !context.has_reference && !context.facts.random_kernel.empty())
    return only(mistrusted_verdict(name(), "no reference, and random: " + context.facts.random_kernel));
  // Without the reference's values nobody knows which elements are undefined.
  const bool legal = is_legal(context, runs), may_be = may_be_legal(context, runs);
  const bool reference_finished = context.has_reference && finished(runs.find(RunKind::kReference));
  if (!may_be && context.facts.has_uninitialized && !reference_finished) return std::nullopt;

  const Experiment experiment(context, runs, subject, again);
  std::vector<RunRequest> missing;
  if (experiment.is_placement(&missing)) return std::nullopt;
  if (!missing.empty()) return ask(std::move(missing));

  const RefereeRuns referee = collect_referee_runs(runs);
  if (found->output && reference_finished) {
    if (referee.stage < 2) return ask(referee_requests(referee.stage + 1));  // are these elements defined at all?
    found = run_difference(context, subject, again, &referee);
    if (!found) return std::nullopt;
    if (found->output && context.facts.has_uninitialized && !referee.available())
      return only(mistrusted_verdict(name(), "no referee: " + without_numbers(referee.failure)));
  }

  const bool unwritten = experiment.is_unwritten(&missing);
  if (!missing.empty()) return ask(std::move(missing));
  const std::string where = found->where + (found->op.empty() ? "" : " " + found->op);
  if (unwritten) {
    Verdict verdict = unwritten_read_verdict(where, {context.violations, context.has_reference, reference_finished});
    verdict.oracle = name();
    return only(described(std::move(verdict), *found));
  }
  // What two runs make of an illegal input is told by the oracle that compares them with the reference.
  if (!may_be) return std::nullopt;
  return only(described(fail_verdict(name(), VerdictClass::kUnstable, legal,
                                     "two runs on the same input differ in " + found->where +
                                         (legal ? "" : std::string(", ") + kLegalityUnknown),
                                     where),
                        *found));
}

}  // namespace aotifuzz
