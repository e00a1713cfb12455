#include "oracles/run_difference.h"

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "oracles/host_values.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

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

/// First element that differs and that `excused` does not cover.
template <class Excused>
bool tensors_differ(const at::Tensor& first, const at::Tensor& later, const Excused& excused, RunDifference* out) {
  if (!first.defined() || !later.defined()) return false;
  if (first.sizes() != later.sizes() || first.scalar_type() != later.scalar_type()) {
    out->first = out->later = "another shape";
    return true;
  }
  const HostValues a(first), b(later);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (HostValues::same(a, b, i) || excused(i)) continue;
    std::vector<int64_t> sizes = first.sizes().vec();
    if (first.is_complex()) sizes.push_back(2);
    out->index = index_text(i, sizes);
    out->first = a.text(i);
    out->later = b.text(i);
    return true;
  }
  return false;
}

}  // namespace

bool is_random_output(const CaseContext& context, size_t output) {
  return output < context.facts.outputs.size() && !context.facts.outputs[output].random_op.empty();
}

std::optional<RunDifference> run_difference(const CaseContext& context, const RunRecord& first, const RunRecord& later,
                                            const RefereeRuns* referee) {
  RunDifference out;
  if (finished(&first) != finished(&later)) {
    out.where = "the outcome";
    out.first = outcome_kind_name(first.outcome.kind);
    out.later = outcome_kind_name(later.outcome.kind);
    return out;
  }
  if (!finished(&first)) return std::nullopt;
  for (size_t i = 0; i < first.outputs.size() && i < later.outputs.size(); ++i) {
    if (is_random_output(context, i)) continue;
    const auto pick = [i](const RunRecord& run) { return i < run.outputs.size() ? run.outputs[i] : at::Tensor(); };
    const auto excused = [&](int64_t element) {
      return referee && referee->available() && is_undefined(*referee, pick, element);
    };
    if (!tensors_differ(first.outputs[i], later.outputs[i], excused, &out)) continue;
    out.where = "output " + std::to_string(i);
    out.output = i;
    if (i < context.facts.outputs.size()) out.op = context.facts.outputs[i].op;
    return out;
  }
  for (size_t i = 0; i < first.inputs_after.size() && i < later.inputs_after.size(); ++i) {
    const auto nothing = [](int64_t) { return false; };
    if (!tensors_differ(first.inputs_after[i], later.inputs_after[i], nothing, &out)) continue;
    out.where = "input " + context.input.inputs[i].name + " afterwards";
    return out;
  }
  return std::nullopt;
}

Verdict described(Verdict verdict, const RunDifference& found) {
  verdict.measures.emplace_back("where", found.where);
  verdict.measures.emplace_back("index", found.index);
  verdict.measures.emplace_back("first run", found.first);
  verdict.measures.emplace_back("later run", found.later);
  return verdict;
}

}  // namespace aotifuzz
