#include "worker/case_runner.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "oracles/close_oracle.h"
#include "oracles/kernels_oracle.h"
#include "store/case_files.h"
#include "store/case_text.h"
#include "worker/device_graph.h"
#include "worker/error_text.h"
#include "worker/index_checks.h"
#include "worker/run_values.h"

namespace aotifuzz {
namespace {

/// How often an oracle may ask for further runs before its word is taken as it is.
constexpr int kRoundsMax = 8;

/// One case in so many is also run with memory laid out for underruns and uses after free. Careful cases always are.
constexpr uint64_t kProbeEvery = 16;
/// Where the reference raises an index error, a kernel asserts or reads what it should not, and its process is lost. So
/// one in so many of these cases runs the package, the same ones each time. Careful cases always do.
constexpr uint64_t kIndexErrorEvery = 16;
/// Why oracles miss the package's run in the others.
constexpr const char* kPassedOver =
    "the package was passed over: the reference raises an index error, and a kernel that asserts costs the process (1 "
    "in 16 such cases runs)";

}  // namespace

CaseRunner::CaseRunner(const Parts& parts)
    : parts_(parts),
      input_devices_(parts_.device ? input_devices(*parts_.contract, parts_.device->device())
                                   : std::vector<c10::Device>()),
      sequence_({.contract = parts_.contract,
                 .reference = parts_.host_reference ? parts_.host_reference : parts_.reference,
                 .package = parts_.package,
                 .recorder = parts_.recorder,
                 .allocator = parts_.allocator,
                 .device = parts_.device,
                 .errors = parts_.errors,
                 .input_devices = input_devices_}) {}

std::vector<c10::IValue> CaseRunner::values(const Current& current, std::span<const c10::Device> devices,
                                            std::vector<at::Tensor>* tensors) const {
  return run_values(current.parsed, *current.inputs, devices, parts_.device, tensors);
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
  current.parsed = std::move(*parsed);
  sequence_.forget();
  const uint64_t chance = std::hash<std::string_view>()(case_text);
  current.careful = careful;
  current.judge_kernels = careful || (parts_.kernels_every != 0 && chance % parts_.kernels_every == 0);
  current.runs_despite_index_error = careful || chance % kIndexErrorEvery == 0;
  if (current.parsed.inputs.size() - current.parsed.surplus_inputs() != parts_.contract->inputs.size()) {
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
    if (parts_.device)
      current.devices = input_devices(current.parsed, input_devices_, parts_.device->device());
    else
      require_on_host(current.parsed);
    current.inputs = std::make_unique<CaseInputs>(current.parsed);
    std::optional<ConstantsUpdate> constants;
    if (current.parsed.constants != CaseConstants::kExported) update_constants(current, report, &constants);
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

/// Where that cannot be, the case is run with the weights as they are, and the report says why.
void CaseRunner::update_constants(const Current& current, CaseReport& report,
                                  std::optional<ConstantsUpdate>* constants) {
  std::vector<ReferenceProgram*> references;
  for (ReferenceProgram* reference : {parts_.reference, parts_.host_reference})
    if (reference) references.push_back(reference);
  try {
    if (parts_.package) constants->emplace(current.parsed.constants, *parts_.package, std::move(references), &spent_);
  } catch (const ConstantsUpdate::NotUpdated& error) {
    Verdict left_out;
    left_out.oracle = "constants";
    left_out.status = VerdictStatus::kSkip;
    left_out.reason = error.what();
    report.verdicts.push_back(std::move(left_out));
  }
}

void CaseRunner::judge(Current& current, CaseReport& report) {
  CaseContext context{.input = current.parsed,
                      .contract = *parts_.contract,
                      .violations = current.broken,
                      .facts = *parts_.facts,
                      .has_reference = parts_.reference != nullptr,
                      .has_kernels = parts_.kernels && current.parsed.constants == CaseConstants::kExported,
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
  name_throws(current, report.verdicts);
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

}  // namespace aotifuzz
