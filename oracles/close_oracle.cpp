#include "oracles/close_oracle.h"

#include <ATen/ATen.h>

#include <cmath>
#include <optional>
#include <string>

#include "oracles/host_values.h"
#include "oracles/noise_stream.h"
#include "oracles/output_judge.h"
#include "oracles/referee_runs.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

using Kind = TensorAnswer::Kind;

/// One case in so many sends elements to the referee that only the whole-tensor part of the quick bound let pass.
constexpr uint64_t kThoroughEvery = 64;

std::string shape_text(const at::Tensor& tensor) {
  if (!tensor.defined()) return "None";
  std::string out = c10::toString(tensor.scalar_type());
  out += "[";
  for (int64_t d = 0; d < tensor.dim(); ++d) out += (d ? ", " : "") + std::to_string(tensor.size(d));
  return out + "]";
}

bool same_shape(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes();
}

void add_measures(const TensorAnswer& answer, Verdict& verdict) {
  auto& out = verdict.measures;
  out.emplace_back("differing", std::to_string(answer.differing) + " of " + std::to_string(answer.total));
  out.emplace_back("index", answer.index);
  out.emplace_back("expected", answer.expected);
  out.emplace_back("actual", answer.actual);
  if (!answer.centre.empty()) out.emplace_back("float64", answer.centre);
  if (!answer.permitted.empty()) out.emplace_back("permitted", answer.permitted);
  out.emplace_back("error", answer.error);
  if (answer.exempt)
    out.emplace_back("exempt", std::to_string(answer.exempt) + " elements depend on undefined results");
}

/// What all outputs together say.
struct Comparison {
  bool needs_runs = false;
  std::optional<size_t> different;  ///< first output that differs
  TensorAnswer answer;              ///< of that output
  std::vector<std::string> doubts;  ///< reasons of what was not judged
  double nearness = 0;
  bool all_constant = true;
  bool all_empty = true;
};

OutputFacts facts_of(const CaseContext& context, size_t output) {
  if (output < context.facts.outputs.size()) return context.facts.outputs[output];
  OutputFacts facts;
  facts.elementwise_only = false;
  facts.rounding_budget = 1;
  return facts;
}

Comparison compare_outputs(const CaseContext& context, const RunRecord& reference, const RunRecord& subject,
                           const RefereeRuns& referee) {
  Comparison all;
  for (size_t i = 0; i < reference.outputs.size(); ++i) {
    if (!reference.outputs[i].defined()) continue;
    const OutputFacts facts = facts_of(context, i);
    if (!facts.random_op.empty()) {
      all.doubts.push_back("random op: " + facts.random_op);
      continue;
    }
    TensorQuestion question;
    question.expected = reference.outputs[i];
    question.actual = subject.outputs[i];
    question.facts = &facts;
    question.pick = [i](const RunRecord& run) { return i < run.outputs.size() ? run.outputs[i] : at::Tensor(); };
    question.reference = &reference;
    question.thorough = is_thorough(context.input);
    TensorAnswer answer = judge_tensor(question, referee);
    if (question.expected.numel() > 0) {
      all.all_empty = false;
      all.all_constant &= answer.constant;
    }
    if (answer.kind == Kind::kAgrees) all.nearness = std::max(all.nearness, answer.nearness);
    if (answer.kind == Kind::kNeedsRuns) all.needs_runs = true;
    if (answer.kind == Kind::kUnjudged) all.doubts.push_back(answer.reason);
    if (answer.kind == Kind::kAgrees && answer.exempt > 0)
      all.doubts.push_back("elements that depend on undefined results: " + facts.op);
    if (answer.kind == Kind::kDiffers) {
      all.different = i;
      all.answer = std::move(answer);
      return all;
    }
  }
  return all;
}

Judgement ask(const RefereeRuns& referee) {
  Judgement judgement;
  judgement.more_runs = referee_requests(referee.stage + 1);
  return judgement;
}

/// Both sides ran on what the contract does not allow.
Verdict illegal_verdict(std::string_view oracle, const CaseContext& context, bool silent) {
  const Violation& broken = context.violations.front();
  Verdict verdict =
      fail_verdict(oracle, VerdictClass::kAcceptsIllegal, false,
                   silent ? "the package accepts an input outside the contract and returns a wrong result"
                          : "the package accepts an input outside the contract; the result happens to be right",
                   broken.text + (silent ? " silent" : " lucky"));
  verdict.measures = {{"kind", silent ? "silent" : "lucky"},
                      {"broken", broken.detail.empty() ? broken.text : broken.detail}};
  return verdict;
}

/// First input that holds other bits after the package than after the reference: outside the contract that is a
/// difference like any other.
std::optional<size_t> changed_input(const RunRecord& reference, const RunRecord& subject) {
  for (size_t i = 0; i < reference.inputs_after.size() && i < subject.inputs_after.size(); ++i) {
    const at::Tensor &expected = reference.inputs_after[i], &actual = subject.inputs_after[i];
    if (!expected.defined() || !actual.defined() || !same_shape(expected, actual)) continue;
    const HostValues a(expected), b(actual);
    for (int64_t k = 0; k < a.size(); ++k) {
      if (HostValues::same(a, b, k)) continue;
      // Values that the program computes may differ by rounding.
      if (a.is_floating() && std::abs(a.real(k) - b.real(k)) <= 1e-3 * std::abs(a.real(k))) continue;
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

/// Depends on the value seeds alone, and holds for cases without any: a reduction changes sizes first and then replaces
/// random values by plain ones, and must not lose on the way what only thorough judging sees.
bool is_thorough(const Case& c) {
  bool seeded = false;
  for (const CaseInput& input : c.inputs) {
    if (!value_kind_has_seed(input.values.kind)) continue;
    seeded = true;
    if (NoiseStream::mix(input.values.seed) % kThoroughEvery == 0) return true;
  }
  return !seeded;
}

std::vector<RunRequest> CloseOracle::plan(const CaseContext& context) const {
  if (!context.has_reference) return {};
  return {{RunKind::kReference, 0}, {RunKind::kSubject, 0}};
}

Judgement CloseOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  if (!context.has_reference) return only(skip_verdict(name(), "no reference"));
  if (const std::string why = why_not_comparable(runs, RunKind::kReference, RunKind::kSubject); !why.empty())
    return only(skip_verdict(name(), why));
  const RunRecord& reference = *runs.find(RunKind::kReference);
  const RunRecord& subject = *runs.find(RunKind::kSubject);
  const bool allowed = context.violations.empty();

  bool shapes_agree = reference.outputs.size() == subject.outputs.size();
  size_t output = 0;
  for (; shapes_agree && output < reference.outputs.size(); ++output)
    if (!same_shape(reference.outputs[output], subject.outputs[output])) break;
  shapes_agree &= output == reference.outputs.size();
  if (!shapes_agree) {
    if (allowed) return only(skip_verdict(name(), "outputs differ in number, sizes or dtype"));
    Verdict verdict = illegal_verdict(name(), context, true);
    verdict.measures.emplace_back("output", std::to_string(output));
    if (output < reference.outputs.size() && output < subject.outputs.size()) {
      verdict.measures.emplace_back("expected", shape_text(reference.outputs[output]));
      verdict.measures.emplace_back("actual", shape_text(subject.outputs[output]));
    }
    return only(std::move(verdict));
  }

  const RefereeRuns referee = collect_referee_runs(runs);
  Comparison all = compare_outputs(context, reference, subject, referee);
  if (!all.different && all.needs_runs && referee.stage < kRefereeStages) return ask(referee);

  Judgement judgement;
  if (!allowed) {
    const std::optional<size_t> input = all.different ? std::nullopt : changed_input(reference, subject);
    if (!all.different && !input && !all.doubts.empty()) return only(mistrusted_verdict(name(), all.doubts.front()));
    Verdict verdict = illegal_verdict(name(), context, all.different.has_value() || input.has_value());
    if (all.different) {
      verdict.measures.emplace_back("output", std::to_string(*all.different));
      add_measures(all.answer, verdict);
    } else if (input) {
      verdict.measures.emplace_back("input afterwards", context.input.inputs[*input].name);
    }
    const RunRecord* again = runs.find(RunKind::kSubjectAgain);
    if (finished(again))
      for (size_t i = 0; i < again->outputs.size() && i < subject.outputs.size(); ++i)
        if (same_shape(again->outputs[i], subject.outputs[i]) && again->outputs[i].defined() &&
            !at::equal(again->outputs[i].nan_to_num(), subject.outputs[i].nan_to_num())) {
          verdict.measures.emplace_back("second run", "differs");
          break;
        }
    return only(std::move(verdict));
  }

  if (all.different) {
    const size_t k = *all.different;
    const OutputFacts facts = facts_of(context, k);
    std::string signature = "output " + std::to_string(k) + (facts.op.empty() ? "" : " " + facts.op);
    if (all.answer.special) signature += " (special values)";
    Verdict verdict = fail_verdict(
        name(), VerdictClass::kWrongResult, true,
        "output " + std::to_string(k) + " differs from the reference by more than rounding explains", signature);
    verdict.measures.emplace_back("output", std::to_string(k));
    add_measures(all.answer, verdict);
    return only(std::move(verdict));
  }
  for (const std::string& doubt : all.doubts) {
    bool known = false;
    for (const Verdict& verdict : judgement.verdicts) known |= verdict.reason == doubt;
    if (!known) judgement.verdicts.push_back(mistrusted_verdict(name(), doubt));
  }
  if (judgement.verdicts.empty() && !reference.outputs.empty()) {
    if (all.all_empty) {
      judgement.verdicts.push_back(mistrusted_verdict(name(), "agreement proves little: every output is empty"));
    } else if (all.all_constant) {
      judgement.verdicts.push_back(mistrusted_verdict(name(), "agreement proves little: every output is constant"));
    }
  }
  if (judgement.verdicts.empty()) {
    judgement.verdicts.push_back(pass_verdict(name()));
    if (all.nearness > 0) judgement.verdicts.back().measures = {{kNearness, number_text(all.nearness)}};
  }
  return judgement;
}

}  // namespace aotifuzz
