#include "worker/case_runner.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>

#include "oracles/legal_sampler.h"
#include "store/case_text.h"
#include "worker/error_text.h"

namespace aotifuzz {
namespace {

/// How often an oracle may ask for further runs before its word is taken as it is.
constexpr int kRoundsMax = 8;

/// Fresh memory of the n-th run of a package holds the n-th pattern: never-written memory that reaches a result differs
/// from run to run. As float32 all are finite, as indices all are out of range.
constexpr uint8_t kPoison[kPoisonPatterns] = {0xA5, 0x5A, 0xC3, 0x3C, 0x96, 0x69};

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
      return Stage::kSubjectAgain;
  }
  return Stage::kIdle;
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
  }
  return "";
}

struct CaseRunner::Current {
  Case parsed;
  std::vector<Violation> broken;
  std::unique_ptr<CaseInputs> inputs;
  RunRecords records;

  /// Fresh values for a run, scalars included.
  std::vector<c10::IValue> values(std::vector<at::Tensor>* tensors) const {
    *tensors = inputs->copies();
    std::vector<c10::IValue> out;
    out.reserve(tensors->size());
    for (size_t i = 0; i < tensors->size(); ++i)
      out.push_back((*tensors)[i].defined() ? c10::IValue((*tensors)[i]) : scalar_value(parsed.inputs[i]));
    return out;
  }
};

CaseReport CaseRunner::run(uint64_t id, std::string_view case_text) {
  CaseReport report;
  report.id = id;
  if (parts_.recorder) parts_.recorder->begin_case(id);
  const auto stopped = [&](const char* run, OutcomeKind kind, Stage stage, std::string message) {
    report.runs.push_back({run, {kind, stage, std::move(message)}, 0});
  };
  Result<Case> parsed = parse_case(case_text);
  if (!parsed) {
    stopped("parse", OutcomeKind::kRejected, Stage::kParse, parsed.error().what + " (" + parsed.error().where + ")");
    return report;
  }
  Current current;
  current.parsed = std::move(*parsed);
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
  const CaseContext context{.input = current.parsed,
                            .contract = *parts_.contract,
                            .violations = current.broken,
                            .facts = *parts_.facts,
                            .has_reference = parts_.reference != nullptr,
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
        for (Verdict& verdict : judgement.verdicts) report.verdicts.push_back(std::move(verdict));
        break;
      }
      run_missing(current, std::move(judgement.more_runs), report);
    }
  }
}

void CaseRunner::run_missing(Current& current, std::vector<RunRequest> requests, CaseReport& report) {
  for (const RunRequest& request : requests) {
    if (current.records.find(request)) continue;
    const bool subject = request.kind == RunKind::kSubject || request.kind == RunKind::kSubjectAgain;
    if (subject ? !parts_.package : !parts_.reference) continue;
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
  const bool subject = request.kind == RunKind::kSubject || request.kind == RunKind::kSubjectAgain;
  if (parts_.allocator) {
    const RunMemory memory = memory_of(request);
    parts_.allocator->begin_run({.stage = stage_of(request.kind),
                                 .poison = kPoison[memory.pattern],
                                 .at_start = memory.at_start,
                                 .freed = memory.protect_freed ? FreedMemory::kInaccessible
                                          : memory.at_start    ? FreedMemory::kFilled
                                                               : FreedMemory::kReused});
  }
  try {
    subject ? run_package(current, request, record) : run_reference(current, request, record);
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
  std::vector<at::Tensor> tensors;
  const std::vector<c10::IValue> values = current.values(&tensors);
  const ReferenceProgram::Options options{
      .node_hook = hook.get(), .wide = hook != nullptr, .recorder = parts_.recorder};
  const auto start = std::chrono::steady_clock::now();
  ReferenceProgram::Results results = parts_.reference->run(values, options);
  record.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  record.outcome = std::move(results.outcome);
  record.outputs = std::move(results.outputs);
  record.inputs_after = std::move(results.inputs_after);
  record.watched = std::move(results.watched);
  if (request.kind != RunKind::kReference) return;
  if (parts_.recorder) {
    parts_.recorder->reference_accepts = record.outcome.kind == OutcomeKind::kFinished ? 1 : 0;
    parts_.recorder->reference_done = 1;
  }
  if (parts_.package)
    for (const auto& [fqn, value] : parts_.reference->written_buffers()) parts_.package->reset_before_runs(fqn, value);
}

void CaseRunner::run_package(Current& current, const RunRequest& request, RunRecord& record) {
  const std::vector<c10::IValue> values = current.values(&record.inputs_after);
  const auto start = std::chrono::steady_clock::now();
  PackageExecutor::Results results = parts_.package->run(values, current.parsed.input_checks, parts_.errors);
  record.us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  record.outcome = std::move(results.outcome);
  record.outputs = std::move(results.outputs);
  if (parts_.allocator) record.damage = parts_.allocator->end_run();
}

}  // namespace aotifuzz
