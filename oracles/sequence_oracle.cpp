#include "oracles/sequence_oracle.h"

#include <algorithm>
#include <string>
#include <utility>

#include "oracles/referee_runs.h"
#include "oracles/run_difference.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

/// The first run once more, in the same memory, before any other call: planned, so that it comes before them.
const RunRequest kRepetition = subject_with({}, 0);

std::string what_was_done(const CaseContext& context, RunKind kind) {
  if (kind == RunKind::kSubjectCallers) return "with " + std::to_string(context.input.callers) + " callers at once";
  const size_t calls = context.input.then.size();
  return "after " + std::to_string(calls) + (calls == 1 ? " other call" : " other calls") + " of the loaded package";
}

}  // namespace

std::vector<RunRequest> SequenceOracle::plan(const CaseContext& context) const {
  const bool then = !context.input.then.empty(), callers = context.input.callers > 1;
  std::vector<RunRequest> out;
  if (!then && !callers) return out;
  if (context.has_reference) out.push_back({RunKind::kReference, 0});
  out.push_back({RunKind::kSubject, 0});
  out.push_back(kRepetition);
  if (then) out.push_back({RunKind::kSubjectThen, 0});
  if (callers) out.push_back({RunKind::kSubjectCallers, 0});
  return out;
}

Judgement SequenceOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  const RunRecord* subject = runs.find(RunKind::kSubject);
  if (!subject) return only(skip_verdict(name(), "no run: subject"));
  if (!context.violations.empty()) return only(skip_verdict(name(), "illegal input"));
  if (!may_be_legal(context, runs)) return only(skip_verdict(name(), "the reference did not finish"));
  if (!finished(subject))
    return only(skip_verdict(name(), "subject " + std::string(outcome_kind_name(subject->outcome.kind))));
  Judgement all;
  for (const RunKind kind : {RunKind::kSubjectThen, RunKind::kSubjectCallers}) {
    if (kind == RunKind::kSubjectThen ? context.input.then.empty() : context.input.callers <= 1) continue;
    const RunRecord* later = runs.find(kind);
    if (!later) {
      all.verdicts.push_back(skip_verdict(name(), "no run: subject"));
      continue;
    }
    if (!later->not_made.empty()) {
      all.verdicts.push_back(skip_verdict(name(), later->not_made));
      continue;
    }
    Judgement one = judge_run(context, runs, *subject, *later);
    if (!one.more_runs.empty()) return one;
    const bool failed = one.verdicts[0].status == VerdictStatus::kFail;
    for (Verdict& verdict : one.verdicts) all.verdicts.push_back(std::move(verdict));
    if (failed) break;  // what the callers see then says nothing about callers
  }
  // That both were right is one word.
  const auto passed = [](const Verdict& verdict) { return verdict.status == VerdictStatus::kPass; };
  if (all.verdicts.size() > 1 && std::all_of(all.verdicts.begin(), all.verdicts.end(), passed)) all.verdicts.resize(1);
  return all;
}

Judgement SequenceOracle::judge_run(const CaseContext& context, const RunRecords& runs, const RunRecord& subject,
                                    const RunRecord& later) const {
  if (later.outcome.kind == OutcomeKind::kOutOfMemory) return only(skip_verdict(name(), "out-of-memory"));
  std::optional<RunDifference> found = run_difference(context, subject, later, nullptr);
  if (!found) return only(pass_verdict(name()));
  if (found->output && !context.has_reference && !context.facts.random_kernel.empty())
    return only(mistrusted_verdict(name(), "no reference, and random: " + context.facts.random_kernel));
  const RunRecord* repetition = runs.find(kRepetition);
  if (!repetition || run_difference(context, subject, *repetition, nullptr))
    return only(skip_verdict(name(), "two runs with nothing in between differ too"));

  const bool reference_finished = context.has_reference && finished(runs.find(RunKind::kReference));
  if (found->output && reference_finished) {
    const RefereeRuns referee = collect_referee_runs(runs);
    if (referee.stage < 2) return ask(referee_requests(referee.stage + 1));  // are these elements defined at all?
    found = run_difference(context, subject, later, &referee);
    if (!found) return only(pass_verdict(name()));
    if (found->output && context.facts.has_uninitialized && !referee.available())
      return only(mistrusted_verdict(name(), "no referee: " + without_numbers(referee.failure)));
  }
  const bool legal = is_legal(context, runs);
  const bool callers = later.request.kind == RunKind::kSubjectCallers;
  const std::string where = found->where + (found->op.empty() ? "" : " " + found->op);
  Verdict verdict = fail_verdict(name(), VerdictClass::kUnstable, legal,
                                 "the same input gives something else " + what_was_done(context, later.request.kind) +
                                     ", in " + found->where + (legal ? "" : std::string(", ") + kLegalityUnknown),
                                 (callers ? "several callers: " : "after other calls: ") + where);
  if (found->where == "the outcome" && !later.outcome.message.empty())
    verdict.measures.emplace_back("message", later.outcome.message);
  return only(described(std::move(verdict), *found));
}

}  // namespace aotifuzz
