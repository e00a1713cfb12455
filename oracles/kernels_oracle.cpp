#include "oracles/kernels_oracle.h"

#include <algorithm>

#include "oracles/host_values.h"
#include "oracles/kernel_record.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

constexpr RunRequest kRun{RunKind::kSubjectKernels, 0};

const KernelRecord* kernels_of(const RunRecords& runs) {
  const RunRecord* run = runs.find(kRun);
  return run ? run->kernels.get() : nullptr;
}

std::string place_text(const KernelPlace& place) {
  return place.argument + " = " + place.value + (place.op.empty() ? "" : " (" + place.op + ")");
}

using Measures = std::vector<std::pair<std::string, std::string>>;

void add_place(const KernelPlace& place, Measures& out) {
  out.emplace_back("kernel", place.kernel);
  out.emplace_back("kernel call", std::to_string(place.call + 1));
}

void add_fault(const KernelRecord::Fault& fault, Measures& out) {
  add_place(fault.place, out);
  out.emplace_back("kernel output", place_text(fault.place));
  out.emplace_back("kernel differing",
                   std::to_string(fault.answer.differing) + " of " + std::to_string(fault.answer.total) + " elements");
  out.emplace_back("kernel index", fault.answer.index);
  out.emplace_back("kernel expected", fault.answer.expected);
  out.emplace_back("kernel actual", fault.answer.actual);
  if (!fault.answer.error.empty()) out.emplace_back("kernel local error", fault.answer.error);
  if (!fault.answer.permitted.empty()) out.emplace_back("kernel permitted", fault.answer.permitted);
  if (!fault.inputs_wrong.empty()) out.emplace_back("kernel inputs", fault.inputs_wrong);
}

/// Did the run whose kernels were watched give what the first run gave?
bool same_results(const RunRecord& watched, const RunRecord* first) {
  if (!first || watched.outputs.size() != first->outputs.size()) return false;
  for (size_t i = 0; i < watched.outputs.size(); ++i) {
    const at::Tensor &a = watched.outputs[i], &b = first->outputs[i];
    if (a.defined() != b.defined()) return false;
    if (!a.defined()) continue;
    if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
    const HostValues x(a), y(b);
    for (int64_t k = 0; k < x.size(); ++k)
      if (!HostValues::same(x, y, k)) return false;
  }
  return true;
}

void add_record(const KernelRecord& record, bool came_again, Measures& out) {
  if (record.first) {
    add_fault(*record.first, out);
    return;
  }
  if (!came_again) {
    out.emplace_back("kernel", "not seen: the run whose kernels were watched gave other results");
    return;
  }
  std::string text = "none of the " + std::to_string(record.judged) + " judged calls has an error of its own";
  const int left = record.seen - record.judged;
  if (left > 0) text += "; " + std::to_string(left) + " calls are not judged";
  out.emplace_back("kernel", text);
  if (!record.enters) return;
  out.emplace_back("divergence enters", record.enters->place.kernel + ", call " +
                                            std::to_string(record.enters->place.call + 1) + ", in " +
                                            place_text(record.enters->place) + ": " + record.enters->sentence);
}

}  // namespace

std::vector<RunRequest> KernelsOracle::plan(const CaseContext& context) const {
  if (!context.has_reference || !context.has_kernels || !context.violations.empty()) return {};
  return {{RunKind::kReference, 0}, {RunKind::kSubject, 0}};
}

Judgement KernelsOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  if (!context.judge_kernels) return {};
  if (const std::string why = why_not_comparable(runs, RunKind::kReference, RunKind::kSubject); !why.empty())
    return only(skip_verdict(name(), why));
  if (!is_legal(context, runs)) return only(skip_verdict(name(), "outside the contract"));
  const RunRecord* run = runs.find(kRun);
  if (!run) {
    Judgement judgement;
    judgement.more_runs = {kRun};
    return judgement;
  }
  if (!finished(run)) return only(skip_verdict(name(), "subject " + std::string(outcome_kind_name(run->outcome.kind))));
  const KernelRecord* record = run->kernels.get();
  if (!record) return only(skip_verdict(name(), "no kernel was seen"));
  if (record->first) {
    const KernelPlace& place = record->first->place;
    Verdict verdict =
        fail_verdict(name(), VerdictClass::kWrongResult, true,
                     "a kernel of the package leaves another value behind than eager computes from the same inputs",
                     "inside " + (place.op.empty() ? place.value : place.op));
    add_fault(*record->first, verdict.measures);
    return only(std::move(verdict));
  }
  Judgement judgement;
  if (record->judged > 0) judgement.verdicts.push_back(pass_verdict(name()));
  for (const auto& [reason, calls] : record->not_judged) judgement.verdicts.push_back(skip_verdict(name(), reason));
  if (judgement.verdicts.empty()) judgement.verdicts.push_back(skip_verdict(name(), "no call of the map was made"));
  return judgement;
}

bool wants_kernel(const Verdict& verdict) {
  if (verdict.status != VerdictStatus::kFail || !verdict.fault) return false;
  // A stray access is pinned to its kernel where it happens; memory that nobody wrote shows only later.
  const bool has_kernel = std::any_of(verdict.measures.begin(), verdict.measures.end(),
                                      [](const auto& measure) { return measure.first == "kernel"; });
  if (has_kernel) return false;
  return verdict.cls == VerdictClass::kWrongResult || verdict.cls == VerdictClass::kUnstable ||
         verdict.cls == VerdictClass::kInputChanged || verdict.cls == VerdictClass::kMemoryFault;
}

void name_kernels(const RunRecords& runs, std::vector<Verdict>& verdicts) {
  const KernelRecord* record = kernels_of(runs);
  if (!record) return;
  const bool came_again = same_results(*runs.find(kRun), runs.find(RunKind::kSubject));
  bool named = false;
  for (Verdict& verdict : verdicts)
    if (verdict.oracle != "kernels" && wants_kernel(verdict)) {
      add_record(*record, came_again, verdict.measures);
      named = true;
    }
  if (named)
    std::erase_if(verdicts, [](const Verdict& verdict) {
      return verdict.oracle == "kernels" && verdict.status == VerdictStatus::kFail;
    });
}

}  // namespace aotifuzz
