#include "worker/trace_runner.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "store/case_files.h"
#include "store/case_text.h"
#include "worker/device_graph.h"
#include "worker/dtype_map.h"
#include "worker/error_text.h"
#include "worker/materialize.h"

namespace aotifuzz {
namespace {

/// What the map knows of a tensor of a generated kernel: arguments are counted alike on both sides.
void name_tensors(const KernelJudge& kernels, const MappedCall& call, bool left, std::vector<TraceTensor>* tensors) {
  for (TraceTensor& tensor : *tensors)
    for (const KernelArgument& argument : call.arguments) {
      if (tensor.name != "argument " + std::to_string(argument.at + 1)) continue;
      const std::vector<KernelLabel>& labels = left ? argument.exit : argument.entry;
      tensor.name = argument_name(argument);
      if (labels.empty()) break;
      tensor.value = labels.front().value;
      tensor.op = kernels.op_of(labels.front().value);
      break;
    }
}

}  // namespace

/// Tensors of shims come from the capture, since the tracer does not know their handles; names and errors from the map.
void TraceRunner::annotate(std::span<const CapturedCall> captured, const KernelRecord& record,
                           std::vector<TraceCall>* trace) const {
  const KernelMap& map = parts_.kernels->map();
  size_t next = 0;
  for (TraceCall& traced : *trace) {
    // The capture knows the calls of the map; the trace may hold others, or only some.
    size_t at = next;
    while (at < captured.size() && map.calls[captured[at].call].kernel != traced.kernel) ++at;
    if (at == captured.size()) continue;
    next = at + 1;
    const CapturedCall& seen = captured[at];
    const MappedCall& call = map.calls[seen.call];
    name_tensors(*parts_.kernels, call, /*left=*/false, &traced.given);
    name_tensors(*parts_.kernels, call, /*left=*/true, &traced.left);
    if (call.kind != MappedCall::Kind::kCpp && call.kind != MappedCall::Kind::kTriton) {
      size_t entry = 0, exit = 0;
      for (const CapturePlan::Read& read : parts_.kernels->plan(seen.call).reads) {
        const at::Tensor& tensor = read.on_entry ? seen.entries[entry++] : seen.exits[exit++];
        const KernelArgument& argument = call.arguments[read.argument];
        const KernelLabel& label = (read.on_entry ? argument.entry : argument.exit)[read.label];
        if (!tensor.defined()) continue;
        TraceTensor out;
        out.name = argument_name(argument);
        out.value = label.value;
        out.op = parts_.kernels->op_of(label.value);
        out.dtype = dtype_name(from_scalar_type(tensor.scalar_type()).value_or(Dtype::kUnknown));
        out.sizes = tensor.sizes().vec();
        add_statistics(tensor, parts_.options.level, &out);
        if (!parts_.options.folder.empty()) {
          out.file = parts_.options.folder + "/" + std::to_string(traced.ordinal) + "-" +
                     (read.on_entry ? "given" : "left") + "-" + std::to_string(argument.at + 1) + ".npy";
          write_npy(tensor, out.file);
        }
        (read.on_entry ? traced.given : traced.left).push_back(std::move(out));
      }
    }
    for (const KernelRecord::Call& judged : record.calls) {
      if (judged.call != seen.call) continue;
      traced.verdict = judged.verdict;
      for (TraceTensor& tensor : traced.given)
        if (const auto error = judged.inherited.find(tensor.name + " (" + tensor.value + ")");
            error != judged.inherited.end())
          tensor.error = error->second;
    }
  }
}

TraceRunner::TraceRunner(Parts parts) : parts_(std::move(parts)), tracer_(parts_.options) {
  if (!parts_.device) return;
  input_devices_ = input_devices(*parts_.contract, parts_.device->device());
  tracer_.set_device(parts_.device->make_snapshots());
}

CaseReport TraceRunner::run(uint64_t id, std::string_view case_text) {
  CaseReport report;
  report.id = id;
  if (parts_.recorder) parts_.recorder->begin_case(id);
  const auto stopped = [&](std::string message) {
    report.runs.push_back({"subject", {OutcomeKind::kRejected, Stage::kParse, std::move(message)}, 0});
    return report;
  };
  Result<Case> parsed = parse_case(case_text);
  if (!parsed) return stopped(parsed.error().what + " (" + parsed.error().where + ")");
  if (parsed->inputs.size() - parsed->surplus_inputs() != parts_.contract->inputs.size())
    return stopped("the case has another number of inputs than the program");
  try {
    load_case_files(*parsed, "");
  } catch (const HarnessError& error) {
    return stopped(error.what());
  }
  at::set_num_threads(parsed->threads);
  c10::InferenceMode no_autograd;
  try {
    const auto set_stage = [&](Stage stage) {
      if (parts_.recorder) parts_.recorder->set_stage(stage);
      if (parts_.allocator) parts_.allocator->begin_run({.stage = stage, .poison = 0xA5});
    };
    set_stage(Stage::kMaterialise);
    std::vector<c10::Device> devices;
    if (parts_.device)
      devices = input_devices(*parsed, input_devices_, parts_.device->device());
    else
      require_on_host(*parsed);
    const CaseInputs inputs(*parsed);
    std::vector<at::Tensor> tensors;
    std::vector<c10::IValue> values;
    for (const at::Tensor& tensor : inputs.copies_on(devices, parts_.device)) {
      values.push_back(tensor.defined() ? c10::IValue(tensor) : c10::IValue());
      if (tensor.defined()) tensors.push_back(tensor);
    }
    set_stage(Stage::kSubject);
    if (parts_.device) parts_.device->begin_run({.poison = 0xA5, .canaries = true});
    if (parts_.kernels) parts_.kernels->capture().begin(tensors);
    tracer_.begin(parts_.kernels ? &parts_.kernels->map() : nullptr);
    Subject::Results results = parts_.package->run(values, parsed->input_checks, parts_.errors);
    report.trace = tracer_.end();
    if (parts_.device) parts_.device->end_run();
    std::vector<CapturedCall> captured;
    if (parts_.kernels) captured = parts_.kernels->capture().end();
    results.outcome.stage = Stage::kSubject;
    report.runs.push_back({"subject", results.outcome, 0});
    set_stage(Stage::kReferee);
    if (parts_.kernels) {
      std::vector<at::Tensor> pristine;
      for (const at::Tensor& input : inputs.pristine())
        if (input.defined()) pristine.push_back(input);
      const KernelRecord record = parts_.options.level == TraceLevel::kNames
                                      ? KernelRecord()
                                      : parts_.kernels->judge({.calls = captured,
                                                               .inputs = pristine,
                                                               .thorough = true,
                                                               .trace_back = true,
                                                               .every = true,
                                                               .recorder = parts_.recorder});
      annotate(captured, record, &report.trace);
    }
    set_stage(Stage::kTeardown);
  } catch (const HarnessError&) {
    throw;
  } catch (const std::exception& error) {
    return stopped(clean_error(error.what()));
  }
  if (parts_.recorder) parts_.recorder->set_stage(Stage::kIdle);
  return report;
}

}  // namespace aotifuzz
