#include "oracles/metadata_oracle.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <string>

#include "core/dtype.h"
#include "oracles/scalar_types.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

std::string list_text(at::IntArrayRef values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + std::to_string(values[i]);
  return out + "]";
}

std::string dtype_text(const at::Tensor& tensor) {
  const Dtype dtype = dtype_of(tensor.scalar_type());
  return dtype == Dtype::kUnknown ? std::string(c10::toString(tensor.scalar_type())) : std::string(dtype_name(dtype));
}

/// Same place for every element: strides of sizes 0 and 1, and all strides of an empty tensor, place nothing.
bool same_strides(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0) return true;
  for (int64_t d = 0; d < a.dim(); ++d)
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  return true;
}

/// First and one-past-last byte that a tensor's elements may occupy; empty for no elements.
std::pair<uintptr_t, uintptr_t> extent(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage() || tensor._is_zerotensor() || tensor.numel() == 0) return {0, 0};
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
  const auto start = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  return {start, start + static_cast<uintptr_t>((last + 1) * static_cast<int64_t>(tensor.element_size()))};
}

bool share_memory(const at::Tensor& a, const at::Tensor& b) {
  const auto [a_start, a_end] = extent(a);
  const auto [b_start, b_end] = extent(b);
  return a_start < b_end && b_start < a_end;
}

bool shares_with_any(const at::Tensor& tensor, const std::vector<at::Tensor>& others, size_t skip, size_t* which) {
  for (size_t i = 0; i < others.size(); ++i)
    if (i != skip && share_memory(tensor, others[i])) {
      *which = i;
      return true;
    }
  return false;
}

c10::Device device_of(const RunRecord& run, size_t output) {
  return output < run.output_devices.size() ? run.output_devices[output] : run.outputs[output].device();
}

constexpr size_t kNone = static_cast<size_t>(-1);

}  // namespace

std::vector<RunRequest> MetadataOracle::plan(const CaseContext& context) const {
  if (!context.has_reference) return {};
  return {{RunKind::kReference, 0}, {RunKind::kSubject, 0}};
}

Judgement MetadataOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  if (!context.has_reference) return only(skip_verdict(name(), "no reference"));
  if (const std::string why = why_not_comparable(runs, RunKind::kReference, RunKind::kSubject); !why.empty())
    return only(skip_verdict(name(), why));
  if (!context.violations.empty()) return only(skip_verdict(name(), "illegal input"));
  const RunRecord& reference = *runs.find(RunKind::kReference);
  const RunRecord& subject = *runs.find(RunKind::kSubject);

  const auto fail = [&](size_t output, const std::string& what, const std::string& expected,
                        const std::string& actual) {
    std::string where = "output " + std::to_string(output);
    const std::string op = output < context.facts.outputs.size() ? " " + context.facts.outputs[output].op : "";
    Verdict verdict = fail_verdict(name(), VerdictClass::kWrongMetadata, true,
                                   where + " has another " + what + " than the reference's", where + " " + what + op);
    verdict.measures = {{"output", std::to_string(output)}, {"expected " + what, expected}, {"actual " + what, actual}};
    return only(std::move(verdict));
  };

  if (reference.outputs.size() != subject.outputs.size()) {
    Verdict verdict =
        fail_verdict(name(), VerdictClass::kWrongMetadata, true,
                     "the package returns another number of outputs than the reference", "number of outputs");
    verdict.measures = {{"expected outputs", std::to_string(reference.outputs.size())},
                        {"actual outputs", std::to_string(subject.outputs.size())}};
    return only(std::move(verdict));
  }
  Judgement judgement;
  const auto doubt = [&](std::string reason) {
    for (const Verdict& verdict : judgement.verdicts)
      if (verdict.reason == reason) return;
    judgement.verdicts.push_back(mistrusted_verdict(name(), std::move(reason)));
  };
  for (size_t i = 0; i < reference.outputs.size(); ++i) {
    const at::Tensor& expected = reference.outputs[i];
    const at::Tensor& actual = subject.outputs[i];
    if (expected.defined() != actual.defined())
      return fail(i, "presence", expected.defined() ? "a tensor" : "None", actual.defined() ? "a tensor" : "None");
    if (!expected.defined()) continue;
    if (expected.scalar_type() != actual.scalar_type())
      return fail(i, "dtype", dtype_text(expected), dtype_text(actual));
    if (expected.sizes() != actual.sizes())
      return fail(i, "sizes", list_text(expected.sizes()), list_text(actual.sizes()));
    if (const c10::Device wanted = device_of(reference, i), found = device_of(subject, i); wanted != found)
      return fail(i, "device", wanted.str(), found.str());
    size_t which = 0, other = 0;
    if (shares_with_any(actual, subject.inputs_after, kNone, &which) &&
        !shares_with_any(expected, reference.inputs_after, kNone, &other)) {
      const std::string input = which < context.input.inputs.size() ? context.input.inputs[which].name : "an input";
      return fail(i, "memory", "its own", "shared with " + input);
    }
    if (!same_strides(expected, actual)) doubt("strides differ");
    if (shares_with_any(actual, subject.outputs, i, &which) && !shares_with_any(expected, reference.outputs, i, &other))
      doubt("outputs share memory");
  }
  if (judgement.verdicts.empty()) judgement.verdicts.push_back(pass_verdict(name()));
  return judgement;
}

}  // namespace aotifuzz
