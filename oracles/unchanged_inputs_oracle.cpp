#include "oracles/unchanged_inputs_oracle.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "oracles/host_values.h"
#include "oracles/output_judge.h"
#include "oracles/referee_runs.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

using Kind = TensorAnswer::Kind;

/// Bits, not values: nothing computes an input that nobody writes.
bool same_bits(const at::Tensor& a, const at::Tensor& b, int64_t* first) {
  const HostValues x(a), y(b);
  if (x.size() != y.size() || x.bytes() != y.bytes()) return false;
  if (x.size() == 0 || std::memcmp(x.data(), y.data(), static_cast<size_t>(x.bytes())) == 0) return true;
  const int64_t width = x.bytes() / x.size();
  for (int64_t i = 0; i < x.size(); ++i)
    if (std::memcmp(static_cast<const char*>(x.data()) + i * width, static_cast<const char*>(y.data()) + i * width,
                    static_cast<size_t>(width)) != 0) {
      *first = i;
      return false;
    }
  return true;
}

bool is_written(const CaseContext& context, size_t i) {
  if (i < context.contract.inputs.size() && context.contract.inputs[i].mutated) return true;
  const auto named = [&](const std::string& name) {
    return std::find(context.facts.mutated_inputs.begin(), context.facts.mutated_inputs.end(), name) !=
           context.facts.mutated_inputs.end();
  };
  const std::string& name = context.input.inputs[i].name;
  return named(name) || (i < context.contract.inputs.size() && named(context.contract.inputs[i].name));
}

/// Views of a written input's storage change with it.
bool shares_written(const CaseContext& context, size_t i) {
  const auto storage = [&](size_t k) -> const std::string& {
    const CaseInput& input = context.input.inputs[k];
    return input.storage_of.empty() ? input.name : input.storage_of;
  };
  for (size_t k = 0; k < context.input.inputs.size(); ++k)
    if (k != i && is_written(context, k) && storage(k) == storage(i)) return true;
  return false;
}

/// A call that is refused must leave its inputs as they were: the caller may correct one and call again. Checks may sit
/// right before the first kernel that uses the input in question, after kernels that wrote others (torch 2.15).
/// Where the contract allows the call and the reference raises, eager may have come as far.
Judgement judge_refused(std::string_view oracle, const CaseContext& context, const RunRecord& subject,
                        const RunRecord* reference) {
  const bool legal = context.violations.empty();
  if (legal && !finished(reference)) return only(skip_verdict(oracle, "subject rejected, and so did the reference"));
  for (size_t i = 0;
       i < context.input.inputs.size() && i < subject.inputs_after.size() && i < context.inputs_before.size(); ++i) {
    const at::Tensor& before = context.inputs_before[i];
    const at::Tensor& after = subject.inputs_after[i];
    int64_t first = 0;
    if (!before.defined() || !after.defined() || same_bits(before, after, &first)) continue;
    const std::string& input = context.input.inputs[i].name;
    Verdict verdict = fail_verdict(oracle, VerdictClass::kInputChanged, legal,
                                   "the package refuses the call after it has written input " + input,
                                   "input " + input + " by a refused call");
    verdict.measures = {{"input", input},
                        {"index", index_text(first, before.sizes())},
                        {"before", HostValues(before).text(first)},
                        {"after", HostValues(after).text(first)},
                        {"package", subject.outcome.message}};
    return only(std::move(verdict));
  }
  return only(skip_verdict(oracle, "subject rejected"));
}

}  // namespace

std::vector<RunRequest> UnchangedInputsOracle::plan(const CaseContext& context) const {
  // Without the program nobody knows which inputs it is meant to write.
  if (!context.has_reference) return {};
  return {{RunKind::kReference, 0}, {RunKind::kSubject, 0}};
}

Judgement UnchangedInputsOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  const RunRecord* subject = runs.find(RunKind::kSubject);
  const RunRecord* reference = runs.find(RunKind::kReference);
  if (!context.has_reference) return only(skip_verdict(name(), "no reference"));
  if (!subject) return only(skip_verdict(name(), "no run: subject"));
  if (subject->outcome.kind == OutcomeKind::kRejected) return judge_refused(name(), context, *subject, reference);
  if (!finished(subject))
    return only(skip_verdict(name(), "subject " + std::string(outcome_kind_name(subject->outcome.kind))));
  if (!reference) return only(skip_verdict(name(), "no run: reference"));
  if (!finished(reference))
    return only(skip_verdict(name(), "reference " + std::string(outcome_kind_name(reference->outcome.kind))));
  if (!context.violations.empty()) return only(skip_verdict(name(), "illegal input"));

  const RefereeRuns referee = collect_referee_runs(runs);
  std::vector<std::string> doubts;
  bool needs_runs = false;
  for (size_t i = 0;
       i < context.input.inputs.size() && i < subject->inputs_after.size() && i < context.inputs_before.size(); ++i) {
    const at::Tensor& before = context.inputs_before[i];
    const at::Tensor& after = subject->inputs_after[i];
    if (!before.defined() || !after.defined()) continue;
    const std::string& input = context.input.inputs[i].name;
    const auto fail = [&](const std::string& reason, const std::string& what) {
      Verdict verdict = fail_verdict(name(), VerdictClass::kInputChanged, true, reason, "input " + input + " " + what);
      verdict.measures.emplace_back("input", input);
      return verdict;
    };
    const bool written = is_written(context, i) || shares_written(context, i);
    int64_t first = 0;
    if (!written) {
      if (same_bits(before, after, &first)) continue;
      Verdict verdict = fail("the package writes input " + input + ", which the program does not", "written");
      verdict.measures.emplace_back("index", index_text(first, before.sizes()));
      verdict.measures.emplace_back("expected", HostValues(before).text(first));
      verdict.measures.emplace_back("actual", HostValues(after).text(first));
      return only(std::move(verdict));
    }
    if (i >= reference->inputs_after.size() || !reference->inputs_after[i].defined()) continue;
    OutputFacts facts;
    facts.op = "input";
    facts.elementwise_only = false;
    facts.rounding_budget = 1;
    TensorQuestion question;
    question.expected = reference->inputs_after[i];
    question.actual = after;
    question.facts = &facts;
    question.pick = [i](const RunRecord& run) {
      return i < run.inputs_after.size() ? run.inputs_after[i] : at::Tensor();
    };
    question.reference = reference;
    const TensorAnswer answer = judge_tensor(question, referee);
    if (answer.kind == Kind::kNeedsRuns) needs_runs = true;
    if (answer.kind == Kind::kUnjudged) doubts.push_back(answer.reason);
    if (answer.kind != Kind::kDiffers) continue;
    Verdict verdict = fail("the package leaves other values in input " + input + " than the reference", "wrong values");
    verdict.measures.emplace_back("differing",
                                  std::to_string(answer.differing) + " of " + std::to_string(answer.total));
    verdict.measures.emplace_back("index", answer.index);
    verdict.measures.emplace_back("expected", answer.expected);
    verdict.measures.emplace_back("actual", answer.actual);
    verdict.measures.emplace_back("float64", answer.centre);
    verdict.measures.emplace_back("permitted", answer.permitted);
    verdict.measures.emplace_back("error", answer.error);
    return only(std::move(verdict));
  }
  if (needs_runs && referee.stage < kRefereeStages) {
    Judgement judgement;
    judgement.more_runs = referee_requests(referee.stage + 1);
    return judgement;
  }
  return only(doubts.empty() ? pass_verdict(name()) : mistrusted_verdict(name(), doubts.front()));
}

}  // namespace aotifuzz
