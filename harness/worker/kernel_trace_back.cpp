#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "oracles/host_values.h"
#include "worker/kernel_judge.h"

namespace aotifuzz {
namespace {

using Leaf = KernelSlice::Leaf;

/// Relative to the largest magnitude. Rounding that adds up from call to call stays below; what a wrong element of a
/// wrong buffer holds does not. This decides where to point, never whether something is a fault.
constexpr double kInheritedMax = 1e-2;

/// Largest difference of two tensors of one shape, relative to the largest magnitude of `expected`; infinity where a
/// NaN or an infinity is on one side only. nullopt: their shapes differ.
std::optional<double> relative_error(const at::Tensor& actual, const at::Tensor& expected) {
  if (!actual.defined() || !expected.defined() || actual.sizes() != expected.sizes()) return std::nullopt;
  const HostValues a(actual), e(expected);
  double largest = 0, error = 0;
  for (int64_t i = 0; i < e.size(); ++i) {
    const double x = a.is_floating() ? a.real(i) : static_cast<double>(a.integer(i));
    const double y = e.is_floating() ? e.real(i) : static_cast<double>(e.integer(i));
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) {
      if (std::isfinite(y)) largest = std::max(largest, std::abs(y));
      continue;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
    largest = std::max(largest, std::abs(y));
    error = std::max(error, std::abs(x - y));
  }
  if (error == 0) return 0;
  // Of whole numbers each counts.
  if (!e.is_floating()) return INFINITY;
  return largest > 0 ? error / largest : INFINITY;
}

bool differs(const std::optional<double>& error) { return !error || *error > kInheritedMax; }

}  // namespace

/// Who left `value` behind before the call at `position`, and was it what the reference has? "" = nobody judged.
std::string KernelJudge::maker_of(const Question& question, const std::set<size_t>& judged, size_t position,
                                  const std::string& value, const at::Tensor& expected, bool* was_right) const {
  for (size_t i = position; i-- > 0;) {
    const CapturedCall& captured = question.calls[i];
    if (!judged.contains(captured.call)) continue;
    const std::vector<KernelSlice::Output>& outputs = calls_[captured.call]->compiled.slice.outputs;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const KernelLabel& label = map_.calls[captured.call].arguments[outputs[k].argument].exit[outputs[k].label];
      if (label.value != value) continue;
      *was_right = !differs(relative_error(value_in(captured.exits[k], label), expected));
      return map_.calls[captured.call].kernel;
    }
  }
  return "";
}

/// By argument, "in_ptr0 (add_4)": how far what the call was given is from the reference's value.
std::map<std::string, std::string> KernelJudge::inputs_against(const std::map<std::string, at::Tensor>& values,
                                                               const CapturedCall& captured) const {
  std::map<std::string, std::string> out;
  const Call& call = *calls_[captured.call];
  const std::vector<Leaf>& leaves = call.compiled.slice.leaves;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].kind != Leaf::Kind::kHeld || !values.contains(leaves[i].value)) continue;
    const KernelArgument& argument = map_.calls[captured.call].arguments[leaves[i].argument];
    const std::optional<double> error = relative_error(
        value_in(captured.entries[call.entry_of_leaf[i]], argument.entry[leaves[i].label]), values.at(leaves[i].value));
    out[argument_name(argument) + " (" + leaves[i].value + ")"] =
        !error        ? "of another shape"
        : *error == 0 ? "exact"
                      : "off by " + number_text(*error) + " of its largest";
  }
  return out;
}

void KernelJudge::trace_back(const Question& question, const std::set<size_t>& judged, KernelRecord* record) {
  const std::map<std::string, at::Tensor> values = reference_values(question);
  if (values.empty()) return;
  for (size_t i = 0; i < record->calls.size() && i < question.calls.size(); ++i)
    if (calls_[record->calls[i].call]) record->calls[i].inherited = inputs_against(values, question.calls[i]);
  for (size_t position = 0; position < question.calls.size(); ++position) {
    const CapturedCall& captured = question.calls[position];
    if (!calls_[captured.call]) continue;
    if (record->first) {
      if (record->first->place.call != captured.call) continue;
      std::string& text = record->first->inputs_wrong;
      for (const auto& [argument, error] : inputs_against(values, captured))
        text += (text.empty() ? "" : ", ") + argument + " " + error;
      return;
    }
    const Call& call = *calls_[captured.call];
    const std::vector<Leaf>& leaves = call.compiled.slice.leaves;
    for (size_t i = 0; i < leaves.size(); ++i) {
      const auto expected = values.find(leaves[i].value);
      if (leaves[i].kind != Leaf::Kind::kHeld || expected == values.end()) continue;
      const KernelLabel& label = map_.calls[captured.call].arguments[leaves[i].argument].entry[leaves[i].label];
      if (!differs(relative_error(value_in(captured.entries[call.entry_of_leaf[i]], label), expected->second)))
        continue;
      bool was_right = false;
      const std::string maker = maker_of(question, judged, position, leaves[i].value, expected->second, &was_right);
      KernelRecord::Entry entry;
      entry.place = place_of(captured.call, leaves[i].argument, leaves[i].value);
      entry.sentence = maker.empty() ? "no call that is judged computes it"
                       : was_right   ? maker + " left the right value: the buffer was changed in between"
                                     : maker + " left it like that, and was right by what it was given itself";
      record->enters = std::move(entry);
      return;
    }
  }
}

}  // namespace aotifuzz
