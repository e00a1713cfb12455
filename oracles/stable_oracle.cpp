#include "oracles/stable_oracle.h"

#include <ATen/ATen.h>

#include <string>

#include "oracles/host_values.h"
#include "oracles/referee_runs.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

struct Difference {
  size_t tensor = 0;
  int64_t element = 0;
  std::string index, first, second;
};

/// True when element `i` of what `pick` gives differs between the float64 run and one that draws undefined results.
template <class Pick>
bool is_undefined(const RefereeRuns& referee, const Pick& pick, int64_t i) {
  const HostValues centre(pick(*referee.centre));
  for (const RunRecord* record : referee.undefined) {
    const HostValues drawn(pick(*record));
    if (drawn.size() != centre.size() || i >= centre.size() || !HostValues::same(centre, drawn, i)) return true;
  }
  return false;
}

/// First element that differs and that `skip` does not excuse.
template <class Skip>
bool find_difference(const at::Tensor& first, const at::Tensor& second, const Skip& skip, Difference& out) {
  if (!first.defined() || !second.defined()) return false;
  if (first.sizes() != second.sizes() || first.scalar_type() != second.scalar_type()) {
    out.index = "";
    out.first = out.second = "another shape";
    return true;
  }
  const HostValues a(first), b(second);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (HostValues::same(a, b, i) || skip(i)) continue;
    std::vector<int64_t> sizes = first.sizes().vec();
    if (first.is_complex()) sizes.push_back(2);
    out.element = i;
    out.index = index_text(i, sizes);
    out.first = a.text(i);
    out.second = b.text(i);
    return true;
  }
  return false;
}

}  // namespace

std::vector<RunRequest> StableOracle::plan(const CaseContext& context) const {
  std::vector<RunRequest> out;
  if (context.input.runs < 2) return out;
  if (context.has_reference) out.push_back({RunKind::kReference, 0});
  out.push_back({RunKind::kSubject, 0});
  for (int run = 1; run < context.input.runs; ++run)
    out.push_back({RunKind::kSubjectAgain, static_cast<uint64_t>(run)});
  return out;
}

Judgement StableOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  const RunRecord* subject = runs.find(RunKind::kSubject);
  if (!subject) return only(skip_verdict(name(), "no run: subject"));
  if (!runs.find(RunKind::kSubjectAgain)) return only(skip_verdict(name(), "no run: subject-again"));
  if (!context.violations.empty()) return only(skip_verdict(name(), "illegal input"));
  if (!is_legal(context, runs)) return only(skip_verdict(name(), "the reference did not finish"));

  const RefereeRuns referee = collect_referee_runs(runs);
  bool random = false;
  for (const RunRecord& again : runs.all()) {
    if (again.request.kind != RunKind::kSubjectAgain) continue;
    const auto fail = [&](const std::string& where, const std::string& op, const Difference& difference) {
      Verdict verdict =
          fail_verdict(name(), VerdictClass::kUnstable, true, "two runs on the same input differ in " + where,
                       where + (op.empty() ? "" : " " + op));
      verdict.measures = {{"where", where},
                          {"index", difference.index},
                          {"first run", difference.first},
                          {"later run", difference.second}};
      return only(std::move(verdict));
    };
    if (finished(subject) != finished(&again)) {
      Difference difference;
      difference.first = outcome_kind_name(subject->outcome.kind);
      difference.second = outcome_kind_name(again.outcome.kind);
      if (subject->outcome.kind == OutcomeKind::kOutOfMemory || again.outcome.kind == OutcomeKind::kOutOfMemory)
        return only(skip_verdict(name(), "out-of-memory"));
      return fail("the outcome", "", difference);
    }
    if (!finished(subject)) continue;
    for (size_t i = 0; i < subject->outputs.size() && i < again.outputs.size(); ++i) {
      const bool known = i < context.facts.outputs.size();
      if (known && !context.facts.outputs[i].random_op.empty()) {
        random = true;
        continue;
      }
      Difference difference;
      const auto nothing = [](int64_t) { return false; };
      if (!find_difference(subject->outputs[i], again.outputs[i], nothing, difference)) continue;
      if (!context.has_reference && !context.facts.random_kernel.empty())
        return only(mistrusted_verdict(name(), "no reference, and random: " + context.facts.random_kernel));
      if (context.has_reference && referee.stage < 2) {
        Judgement judgement;  // are these elements defined at all?
        judgement.more_runs = referee_requests(referee.stage + 1);
        return judgement;
      }
      const auto pick = [i](const RunRecord& run) { return i < run.outputs.size() ? run.outputs[i] : at::Tensor(); };
      const auto excused = [&](int64_t element) { return referee.available() && is_undefined(referee, pick, element); };
      if (!find_difference(subject->outputs[i], again.outputs[i], excused, difference)) continue;
      if (context.facts.has_uninitialized && !referee.available())
        return only(mistrusted_verdict(name(), "no referee: " + without_numbers(referee.failure)));
      return fail("output " + std::to_string(i), known ? context.facts.outputs[i].op : "", difference);
    }
    for (size_t i = 0; i < subject->inputs_after.size() && i < again.inputs_after.size(); ++i) {
      Difference difference;
      const auto nothing = [](int64_t) { return false; };
      if (find_difference(subject->inputs_after[i], again.inputs_after[i], nothing, difference))
        return fail("input " + context.input.inputs[i].name + " afterwards", "", difference);
    }
  }
  if (!finished(subject))
    return only(skip_verdict(name(), "subject " + std::string(outcome_kind_name(subject->outcome.kind))));
  Judgement judgement = only(pass_verdict(name()));
  if (random) judgement.verdicts.push_back(mistrusted_verdict(name(), "random op: outputs that depend on it"));
  return judgement;
}

}  // namespace aotifuzz
