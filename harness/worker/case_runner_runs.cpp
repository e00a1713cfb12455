#include <chrono>

#include "oracles/close_oracle.h"
#include "oracles/kernels_oracle.h"
#include "oracles/legal_sampler.h"
#include "worker/case_runner.h"
#include "worker/device_copies.h"
#include "worker/error_text.h"
#include "worker/index_checks.h"
#include "worker/run_values.h"
#include "worker/throw_stack.h"

namespace aotifuzz {
namespace {

Stage stage_of(RunKind kind) {
  switch (kind) {
    case RunKind::kReference:
      return Stage::kReference;
    case RunKind::kReferenceF64:
    case RunKind::kReferenceSampled:
      return Stage::kReferee;
    case RunKind::kSubject:
      return Stage::kSubject;
    case RunKind::kSubjectAgain:
    case RunKind::kSubjectKernels:
    case RunKind::kSubjectThen:
    case RunKind::kSubjectCallers:
    case RunKind::kSubjectMany:
      return Stage::kSubjectAgain;
  }
  return Stage::kIdle;
}

bool needs_calls(RunKind kind) { return kind == RunKind::kSubjectThen || kind == RunKind::kSubjectCallers; }

}  // namespace

RunRecord CaseRunner::run_once(Current& current, const RunRequest& request) {
  RunRecord record;
  record.request = request;
  if (needs_calls(request.kind) && !prepare_calls(current, record)) return record;
  if (request.kind == RunKind::kSubjectMany && parts_.device) {
    // What a run on a device leaves in use on the host goes when the run ends, and these are one run.
    record.not_made = "many runs: not on a device";
    return record;
  }
  set_stage(stage_of(request.kind));
  if (parts_.recorder) parts_.recorder->set_step("");
  const RunMemory memory = memory_of(request);
  if (parts_.allocator) {
    parts_.allocator->begin_run({.stage = stage_of(request.kind),
                                 .poison = kPoison[memory.pattern],
                                 .at_start = memory.at_start,
                                 .freed = memory.protect_freed ? FreedMemory::kInaccessible
                                          : memory.at_start    ? FreedMemory::kFilled
                                                               : FreedMemory::kReused});
  }
  if (parts_.device) {
    // A repetition is not laid out otherwise there: kernels of libraries round by alignment. An oracle may ask for it,
    // and probe_memory() does it for the memory's sake.
    const bool chosen = request.seed >= kChosenMemory;
    parts_.device->begin_run({.poison = kPoison[memory.pattern],
                              .at_start = chosen && memory.at_start,
                              .protect_freed = chosen && memory.protect_freed,
                              .canaries = is_subject(request.kind)});
  }
  try {
    if (needs_calls(request.kind) || request.kind == RunKind::kSubjectMany)
      run_calls(current, request, record);
    else
      is_subject(request.kind) ? run_package(current, request, record) : run_reference(current, request, record);
  } catch (const std::exception& error) {
    record.outcome.kind = OutcomeKind::kOutOfMemory;  // only copying the inputs throws here
    record.outcome.message = clean_error(text_of(error));
  }
  record.outcome.stage = stage_of(request.kind);
  return record;
}

/// False: the run cannot be made, and the record says why.
bool CaseRunner::prepare_calls(const Current& current, RunRecord& record) {
  if (record.request.kind == RunKind::kSubjectCallers) {
    if (parts_.device)
      record.not_made = "several callers: not on a device";
    else if (parts_.reference && parts_.reference->writes_weights())
      record.not_made = "several callers: the program may write its buffers";
  }
  if (record.not_made.empty()) {
    set_stage(Stage::kReference);
    if (parts_.allocator) parts_.allocator->begin_run({.stage = Stage::kReference, .poison = kPoison[0]});
    try {
      record.not_made = sequence_.prepare(current.parsed);
    } catch (const std::exception& error) {
      record.not_made = is_out_of_memory(text_of(error)) ? "out-of-memory" : clean_error(text_of(error));
    }
  }
  record.outcome.kind = OutcomeKind::kFinished;
  return record.not_made.empty();
}

void CaseRunner::run_calls(Current& current, const RunRequest& request, RunRecord& record) {
  const auto start = std::chrono::steady_clock::now();
  if (request.kind == RunKind::kSubjectThen)
    sequence_.run_then(current.parsed, *current.inputs, record);
  else if (request.kind == RunKind::kSubjectMany)
    sequence_.run_many(current.parsed, *current.inputs, request.seed, record);
  else if (const RunRecord* first = current.records.find(RunKind::kSubject))
    sequence_.run_callers(current.parsed, *current.inputs, *first, record);
  if (parts_.device) parts_.device->end_run();
  record.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  if (parts_.allocator) record.damage = parts_.allocator->end_run();
  if (parts_.device) bring_home(record);
}

void CaseRunner::run_reference(Current& current, const RunRequest& request, RunRecord& record) {
  std::unique_ptr<NodeHook> hook;
  if (request.kind == RunKind::kReferenceF64) hook = make_f64_hook(*parts_.facts);
  if (request.kind == RunKind::kReferenceSampled) hook = make_sampled_hook(*parts_.facts, request.seed);
  const bool on_device = parts_.device && !hook;
  if (on_device && host_refuses(current, record)) return;
  ReferenceProgram& program = hook && parts_.host_reference ? *parts_.host_reference : *parts_.reference;
  std::vector<at::Tensor> tensors;
  const std::vector<c10::IValue> inputs =
      values(current, on_device ? current.devices : std::vector<c10::Device>(), &tensors);
  const ReferenceProgram::Options options{
      .node_hook = hook.get(), .wide = hook != nullptr, .recorder = parts_.recorder};
  const auto start = std::chrono::steady_clock::now();
  ReferenceProgram::Results results = program.run(inputs, options);
  if (on_device) parts_.device->end_run();
  record.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  record.outcome = std::move(results.outcome);
  record.outputs = std::move(results.outputs);
  record.inputs_after = std::move(results.inputs_after);
  record.watched = std::move(results.watched);
  if (on_device) bring_home(record);
  if (request.kind != RunKind::kReference) return;
  if (parts_.recorder) {
    parts_.recorder->reference_accepts = record.outcome.kind == OutcomeKind::kFinished ? 1 : 0;
    parts_.recorder->reference_done = 1;
  }
  if (parts_.package)
    for (const auto& [fqn, value] : parts_.reference->written_buffers()) parts_.package->reset_before_runs(fqn, value);
}

/// Does the program raise an index error on the CPU? Then the reference raises, and no device process is lost over it.
bool CaseRunner::host_refuses(Current& current, RunRecord& record) {
  if (!parts_.host_reference || !may_index(current.parsed)) return false;
  if (current.broken.empty() && indices_fit(*parts_.contract, current.parsed, current.inputs->pristine())) return false;
  std::vector<at::Tensor> tensors;
  ReferenceProgram::Results results =
      parts_.host_reference->run(values(current, {}, &tensors), {.recorder = parts_.recorder});
  if (results.outcome.kind != OutcomeKind::kRejected || !is_index_error(results.outcome.message)) return false;
  record.outcome = std::move(results.outcome);
  current.pass_package_over = !current.runs_despite_index_error;
  if (parts_.recorder) parts_.recorder->reference_done = 1;
  return true;
}

/// Oracles look at memory of the host. What shares memory goes on sharing it.
void CaseRunner::bring_home(RunRecord& record) const {
  record.output_devices.clear();
  for (const at::Tensor& output : record.outputs)
    record.output_devices.push_back(output.defined() ? output.device() : c10::Device(c10::kCPU));
  std::vector<at::Tensor> all = record.outputs;
  all.insert(all.end(), record.inputs_after.begin(), record.inputs_after.end());
  for (const auto& [name, value] : record.watched) all.push_back(value);
  all = copied_to(all, c10::kCPU, parts_.device);
  auto next = all.begin();
  for (at::Tensor& output : record.outputs) output = std::move(*next++);
  for (at::Tensor& input : record.inputs_after) input = std::move(*next++);
  for (auto& [name, value] : record.watched) value = std::move(*next++);
}

/// Runs the package once more for its memory faults alone: its results are not looked at, since a kernel may round
/// otherwise at another alignment.
void CaseRunner::probe_memory(Current& current) {
  const RunRecord* first = current.records.find(RunKind::kSubject);
  if (!first || first->outcome.kind != OutcomeKind::kFinished) return;
  set_stage(Stage::kSubjectAgain);
  parts_.device->begin_run({.poison = kPoison[0], .at_start = true, .protect_freed = true});
  std::vector<at::Tensor> tensors;
  parts_.package->run(values(current, current.devices, &tensors), current.parsed.input_checks, parts_.errors);
  parts_.device->end_run();
}

/// After the run, so that eager ops neither disturb the package's memory nor are taken for its own.
void CaseRunner::judge_kernels(Current& current, RunRecord& record) {
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& input : current.inputs->pristine())
    if (input.defined()) inputs.push_back(input);
  const std::vector<CapturedCall> calls = parts_.kernels->capture().end();
  if (record.outcome.kind != OutcomeKind::kFinished) return;
  set_stage(Stage::kReferee);
  if (parts_.allocator) parts_.allocator->begin_run({.stage = Stage::kReferee, .poison = kPoison[0]});
  record.kernels = std::make_shared<KernelRecord>(parts_.kernels->judge({.calls = calls,
                                                                         .inputs = inputs,
                                                                         .thorough = is_thorough(current.parsed),
                                                                         .trace_back = current.trace_kernels,
                                                                         .recorder = parts_.recorder}));
}

void CaseRunner::run_package(Current& current, const RunRequest& request, RunRecord& record) {
  const std::vector<c10::IValue> inputs_given = values(current, current.devices, &record.inputs_after);
  const bool kernels = request.kind == RunKind::kSubjectKernels;
  if (kernels) {
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& input : record.inputs_after)
      if (input.defined()) inputs.push_back(input);
    parts_.kernels->capture().begin(inputs);
  }
  std::optional<ThrowStack> throws;
  if (current.careful) throws.emplace();
  const auto start = std::chrono::steady_clock::now();
  Subject::Results results = parts_.package->run(inputs_given, current.parsed.input_checks, parts_.errors);
  if (parts_.device) parts_.device->end_run();
  record.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  record.outcome = std::move(results.outcome);
  record.outputs = std::move(results.outputs);
  if (throws && record.outcome.kind == OutcomeKind::kRejected) record.thrown_at = throws->frames();
  throws.reset();
  // A call that throws does not return: it still counts as running.
  if (parts_.recorder && record.outcome.kind == OutcomeKind::kRejected)
    record.thrown_in = recorded_kernel(*parts_.recorder);
  if (parts_.allocator) record.damage = parts_.allocator->end_run();
  if (parts_.device) bring_home(record);
  if (kernels) judge_kernels(current, record);
}

void CaseRunner::name_throws(const Current& current, std::vector<Verdict>& verdicts) const {
  const RunRecord* subject = current.records.find(RunKind::kSubject);
  if (!parts_.symbols || !subject || subject->thrown_at.empty()) return;
  for (Verdict& verdict : verdicts) {
    if (verdict.cls != VerdictClass::kRejectsLegal) continue;
    const std::string text = parts_.symbols->stack_text(subject->thrown_at, true, FaultEntry::kStackTextMax);
    if (!text.empty()) verdict.measures.emplace_back(kStack, stack_measure(text));
  }
}

}  // namespace aotifuzz
