#include "worker/case_runner.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>

#include "oracles/close_oracle.h"
#include "oracles/kernels_oracle.h"
#include "oracles/legal_sampler.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "worker/device_copies.h"
#include "worker/device_graph.h"
#include "worker/error_text.h"
#include "worker/index_checks.h"

namespace aotifuzz {
namespace {

/// How often an oracle may ask for further runs before its word is taken as it is.
constexpr int kRoundsMax = 8;

/// Fresh memory of the n-th run of a package holds the n-th pattern: never-written memory that reaches a result differs
/// from run to run. As float32 all are finite, as indices all are out of range.
constexpr uint8_t kPoison[kPoisonPatterns] = {0xA5, 0x5A, 0xC3, 0x3C, 0x96, 0x69};

/// One case in so many is also run with memory laid out for underruns and uses after free. Careful cases always are.
constexpr uint64_t kProbeEvery = 16;
/// Where the reference raises an index error, a kernel asserts or reads what it should not, and its process is lost. So
/// one in so many of these cases runs the package, the same ones each time. Careful cases always do.
constexpr uint64_t kIndexErrorEvery = 16;
/// Why oracles miss the package's run in the others.
constexpr const char* kPassedOver =
    "the package was passed over: the reference raises an index error, and a kernel that asserts costs the process (1 "
    "in 16 such cases runs)";

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
      return Stage::kSubjectAgain;
  }
  return Stage::kIdle;
}

bool is_subject(RunKind kind) {
  return kind == RunKind::kSubject || kind == RunKind::kSubjectAgain || kind == RunKind::kSubjectKernels;
}

c10::IValue scalar_value(const CaseInput& input) {
  switch (input.kind) {
    case CaseInput::Kind::kInt:
      return to_int64(input.scalar);
    case CaseInput::Kind::kFloat:
      return to_double(input.scalar);
    case CaseInput::Kind::kBool:
      return to_int64(input.scalar) != 0;
    default:
      return {};
  }
}

std::string text_of(const std::exception& error) {
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) return torch_error->what_without_backtrace();
  return error.what();
}

}  // namespace

std::string_view run_name(RunKind kind) {
  switch (kind) {
    case RunKind::kReference:
      return "reference";
    case RunKind::kReferenceF64:
      return "reference-f64";
    case RunKind::kReferenceSampled:
      return "reference-sampled";
    case RunKind::kSubject:
      return "subject";
    case RunKind::kSubjectAgain:
      return "subject-again";
    case RunKind::kSubjectKernels:
      return "subject-kernels";
  }
  return "";
}

struct CaseRunner::Current {
  Case parsed;
  bool runs_despite_index_error = false;
  bool pass_package_over = false;
  bool judge_kernels = false;
  bool trace_kernels = false;  ///< some verdict asks where its wrong value comes from
  std::vector<Violation> broken;
  std::unique_ptr<CaseInputs> inputs;
  DeviceRuntime* device = nullptr;
  RunRecords records;

  /// Fresh values for a run, scalars included.
  std::vector<c10::IValue> values(std::vector<at::Tensor>* tensors, std::span<const c10::Device> devices) const {
    *tensors = inputs->copies_on(devices, device);
    std::vector<c10::IValue> out;
    out.reserve(tensors->size());
    for (size_t i = 0; i < tensors->size(); ++i)
      out.push_back((*tensors)[i].defined() ? c10::IValue((*tensors)[i]) : scalar_value(parsed.inputs[i]));
    return out;
  }
};

CaseRunner::CaseRunner(const Parts& parts) : parts_(parts) {
  if (parts_.device) input_devices_ = input_devices(*parts_.contract, parts_.device->device());
}

CaseReport CaseRunner::run(uint64_t id, std::string_view case_text, bool careful) {
  CaseReport report;
  report.id = id;
  if (parts_.recorder) parts_.recorder->begin_case(id);
  if (parts_.device) parts_.device->begin_case(careful);
  const auto stopped = [&](const char* run, OutcomeKind kind, Stage stage, std::string message) {
    report.runs.push_back({run, {kind, stage, std::move(message)}, 0});
  };
  Result<Case> parsed = parse_case(case_text);
  if (!parsed) {
    stopped("parse", OutcomeKind::kRejected, Stage::kParse, parsed.error().what + " (" + parsed.error().where + ")");
    return report;
  }
  try {
    load_case_files(*parsed, "");
  } catch (const HarnessError& error) {
    stopped("parse", OutcomeKind::kRejected, Stage::kParse, error.what());
    return report;
  }
  Current current;
  current.device = parts_.device;
  current.parsed = std::move(*parsed);
  const uint64_t chance = std::hash<std::string_view>()(case_text);
  current.judge_kernels = careful || (parts_.kernels_every != 0 && chance % parts_.kernels_every == 0);
  current.runs_despite_index_error = careful || chance % kIndexErrorEvery == 0;
  if (current.parsed.inputs.size() != parts_.contract->inputs.size()) {
    stopped("parse", OutcomeKind::kRejected, Stage::kParse, "the case has another number of inputs than the program");
    return report;
  }
  current.broken = violations(*parts_.contract, current.parsed);
  if (threads_ != current.parsed.threads) at::set_num_threads(threads_ = current.parsed.threads);

  // Nothing here wants gradients; below the mode, tensors carry no autograd state and ops skip its dispatch.
  c10::InferenceMode no_autograd;
  try {
    set_stage(Stage::kMaterialise);
    if (parts_.allocator) parts_.allocator->begin_run({.stage = Stage::kMaterialise, .poison = kPoison[0]});
    current.inputs = std::make_unique<CaseInputs>(current.parsed);
    judge(current, report);
    if (parts_.device && (careful || id % kProbeEvery == 0)) probe_memory(current);
    set_stage(Stage::kTeardown);
    current.records.clear();
  } catch (const std::exception& error) {
    // Runs turn their own errors into outcomes: what arrives here is the making of inputs, or a comparison short of
    // memory.
    const std::string text = text_of(error);
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) || is_out_of_memory(text);
    // What was decided before stays decided.
    Verdict left_out;
    left_out.oracle = current.inputs ? "judge" : "materialise";
    left_out.status = VerdictStatus::kSkip;
    left_out.reason = memory ? "out of memory" : clean_error(text);
    report.verdicts.push_back(std::move(left_out));
    stopped(current.inputs ? "judge" : "materialise", memory ? OutcomeKind::kOutOfMemory : OutcomeKind::kRejected,
            current.inputs ? Stage::kJudge : Stage::kMaterialise, clean_error(text));
  }
  set_stage(Stage::kIdle);
  return report;
}

void CaseRunner::judge(Current& current, CaseReport& report) {
  CaseContext context{.input = current.parsed,
                      .contract = *parts_.contract,
                      .violations = current.broken,
                      .facts = *parts_.facts,
                      .has_reference = parts_.reference != nullptr,
                      .has_kernels = parts_.kernels != nullptr,
                      .judge_kernels = current.judge_kernels,
                      .inputs_before = current.inputs->pristine()};
  std::vector<const Oracle*> applicable;
  std::vector<RunRequest> wanted;
  for (const auto& oracle : parts_.oracles) {
    std::vector<RunRequest> runs = oracle->plan(context);
    if (runs.empty()) continue;
    applicable.push_back(oracle.get());
    wanted.insert(wanted.end(), runs.begin(), runs.end());
  }
  // References before the package, whatever the order of the catalog: legality must be known when the process dies.
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const RunRequest& a, const RunRequest& b) { return a.kind < b.kind; });
  run_missing(current, std::move(wanted), report);

  for (const Oracle* oracle : applicable) {
    for (int round = 0;; ++round) {
      set_stage(Stage::kJudge);
      if (parts_.recorder) parts_.recorder->set_step(oracle->name());
      Judgement judgement;
      try {
        judgement = oracle->judge(context, current.records);
      } catch (const std::exception& error) {
        // Short of memory, mostly. The other oracles still decide.
        Verdict failed;
        failed.oracle = oracle->name();
        failed.status = VerdictStatus::kSkip;
        failed.reason = "the comparison failed: " + clean_error(text_of(error));
        judgement.verdicts = {std::move(failed)};
      }
      if (judgement.more_runs.empty() || round == kRoundsMax) {
        if (!judgement.more_runs.empty()) {
          Verdict endless;
          endless.oracle = oracle->name();
          endless.status = VerdictStatus::kSkip;
          endless.reason = "asks for further runs without end";
          judgement.verdicts = {std::move(endless)};
        }
        for (Verdict& verdict : judgement.verdicts) {
          const bool missed = verdict.status == VerdictStatus::kSkip && verdict.reason.starts_with("no run: subject");
          if (missed && current.pass_package_over) verdict.reason = kPassedOver;
          report.verdicts.push_back(std::move(verdict));
        }
        break;
      }
      run_missing(current, std::move(judgement.more_runs), report);
    }
    for (const Verdict& verdict : report.verdicts) current.trace_kernels |= wants_kernel(verdict);
    context.judge_kernels |= current.trace_kernels;
  }
  name_kernels(current.records, report.verdicts);
}

void CaseRunner::run_missing(Current& current, std::vector<RunRequest> requests, CaseReport& report) {
  for (const RunRequest& request : requests) {
    if (current.records.find(request)) continue;
    if (is_subject(request.kind) ? !parts_.package : !parts_.reference) continue;
    if (is_subject(request.kind) && current.pass_package_over) continue;
    RunRecord record = run_once(current, request);
    report.runs.push_back({std::string(run_name(request.kind)), record.outcome, record.us});
    if (request.kind == RunKind::kReference) report.reference_accepts = record.outcome.kind == OutcomeKind::kFinished;
    current.records.add(std::move(record));
  }
}

RunRecord CaseRunner::run_once(Current& current, const RunRequest& request) {
  RunRecord record;
  record.request = request;
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
    is_subject(request.kind) ? run_package(current, request, record) : run_reference(current, request, record);
  } catch (const std::exception& error) {
    record.outcome.kind = OutcomeKind::kOutOfMemory;  // only copying the inputs throws here
    record.outcome.message = clean_error(text_of(error));
  }
  record.outcome.stage = stage_of(request.kind);
  return record;
}

void CaseRunner::run_reference(Current& current, const RunRequest& request, RunRecord& record) {
  std::unique_ptr<NodeHook> hook;
  if (request.kind == RunKind::kReferenceF64) hook = make_f64_hook(*parts_.facts);
  if (request.kind == RunKind::kReferenceSampled) hook = make_sampled_hook(*parts_.facts, request.seed);
  const bool on_device = parts_.device && !hook;
  if (on_device && host_refuses(current, record)) return;
  ReferenceProgram& program = hook && parts_.host_reference ? *parts_.host_reference : *parts_.reference;
  std::vector<at::Tensor> tensors;
  const std::vector<c10::IValue> values =
      current.values(&tensors, on_device ? input_devices_ : std::vector<c10::Device>());
  const ReferenceProgram::Options options{
      .node_hook = hook.get(), .wide = hook != nullptr, .recorder = parts_.recorder};
  const auto start = std::chrono::steady_clock::now();
  ReferenceProgram::Results results = program.run(values, options);
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
      parts_.host_reference->run(current.values(&tensors, {}), {.recorder = parts_.recorder});
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
  const std::vector<c10::IValue> values = current.values(&tensors, input_devices_);
  parts_.package->run(values, current.parsed.input_checks, parts_.errors);
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
  const std::vector<c10::IValue> values = current.values(&record.inputs_after, input_devices_);
  const bool kernels = request.kind == RunKind::kSubjectKernels;
  if (kernels) {
    std::vector<at::Tensor> inputs;
    for (const at::Tensor& input : record.inputs_after)
      if (input.defined()) inputs.push_back(input);
    parts_.kernels->capture().begin(inputs);
  }
  const auto start = std::chrono::steady_clock::now();
  Subject::Results results = parts_.package->run(values, current.parsed.input_checks, parts_.errors);
  if (parts_.device) parts_.device->end_run();
  record.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  record.outcome = std::move(results.outcome);
  record.outputs = std::move(results.outputs);
  // A call that throws does not return: it still counts as running.
  if (parts_.recorder && record.outcome.kind == OutcomeKind::kRejected)
    record.thrown_in = recorded_kernel(*parts_.recorder);
  if (parts_.allocator) record.damage = parts_.allocator->end_run();
  if (parts_.device) bring_home(record);
  if (kernels) judge_kernels(current, record);
}

}  // namespace aotifuzz
