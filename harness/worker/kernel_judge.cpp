#include "worker/kernel_judge.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "oracles/legal_sampler.h"
#include "package/op_name.h"
#include "oracles/program_facts_builder.h"
#include "worker/device_copies.h"
#include "worker/device_graph.h"
#include "worker/dtype_map.h"
#include "worker/error_text.h"

namespace aotifuzz {
namespace {

using Leaf = KernelSlice::Leaf;

/// The contract of a program whose inputs are leaves: their names are all that a ReferenceProgram asks for.
Contract contract_of(const Program& program) {
  Contract contract;
  for (const GraphInput& input : program.inputs) {
    InputSpec spec;
    spec.name = input.name;
    contract.inputs.push_back(std::move(spec));
  }
  return contract;
}

Result<CompiledSlice> compile(Result<KernelSlice> slice, const std::string& archive) {
  if (!slice) return tl::unexpected(slice.error());
  CompiledSlice out;
  out.slice = std::move(*slice);
  out.facts = build_program_facts(out.slice.program);
  out.program =
      std::make_unique<ReferenceProgram>(out.slice.program, archive, contract_of(out.slice.program), out.facts);
  if (!out.program->unsupported().empty()) return parse_error(out.program->unsupported().front(), archive);
  for (const OutputFacts& output : out.facts.outputs)
    if (!output.random_op.empty()) return parse_error("random numbers: " + output.random_op, archive);
  return out;
}

at::Tensor literal_of(const MapInput& input) {
  at::Tensor values = at::empty(input.sizes, at::TensorOptions(c10::ScalarType::Double));
  std::copy(input.data.begin(), input.data.end(), values.data_ptr<double>());
  return values.to(to_scalar_type(input.dtype));
}

/// Runs one slice as often as its judge asks: as written first, then for the referee.
class SliceRuns {
 public:
  SliceRuns(CompiledSlice& slice, const std::vector<c10::IValue>& leaves, FlightRecorder* recorder)
      : slice_(slice), leaves_(leaves), recorder_(recorder) {}

  const RunRecord& run(const RunRequest& request) {
    std::unique_ptr<NodeHook> hook;
    if (request.kind == RunKind::kReferenceF64) hook = make_f64_hook(slice_.facts);
    if (request.kind == RunKind::kReferenceSampled) hook = make_sampled_hook(slice_.facts, request.seed);
    // A slice that writes one of its inputs must not change what the next run is given.
    std::vector<c10::IValue> leaves = leaves_;
    if (slice_.program->writes_in_place())
      for (c10::IValue& leaf : leaves)
        if (leaf.isTensor()) leaf = leaf.toTensor().clone();
    ReferenceProgram::Results results =
        slice_.program->run(leaves, {.node_hook = hook.get(), .wide = hook != nullptr, .recorder = recorder_});
    RunRecord record;
    record.request = request;
    record.outcome = std::move(results.outcome);
    record.outputs = std::move(results.outputs);
    record.watched = std::move(results.watched);
    records_.add(std::move(record));
    return *records_.find(request);
  }
  RefereeRuns referee() const { return collect_referee_runs(records_); }
  const RunRecord& reference() const { return *records_.find(RunKind::kReference); }

 private:
  CompiledSlice& slice_;
  const std::vector<c10::IValue>& leaves_;
  FlightRecorder* recorder_;
  RunRecords records_;
};

TensorAnswer judge_output(SliceRuns& runs, const CompiledSlice& slice, size_t output, const at::Tensor& expected,
                          const at::Tensor& actual, bool thorough) {
  TensorQuestion question;
  question.expected = expected;
  question.actual = actual;
  question.facts = &slice.facts.outputs[output];
  question.pick = [output](const RunRecord& run) {
    return output < run.outputs.size() ? run.outputs[output] : at::Tensor();
  };
  question.thorough = thorough;
  for (;;) {
    const RefereeRuns referee = runs.referee();
    question.reference = &runs.reference();
    TensorAnswer answer = judge_tensor(question, referee);
    if (answer.kind != TensorAnswer::Kind::kNeedsRuns || referee.stage >= kRefereeStages) return answer;
    for (const RunRequest& request : referee_requests(referee.stage + 1)) runs.run(request);
  }
}

}  // namespace

KernelJudge::~KernelJudge() = default;

KernelJudge::KernelJudge(const KernelMap& map, const std::string& archive, WeightOf weight_of)
    : map_(map), archive_(archive), weight_of_(std::move(weight_of)) {
  plans_.resize(map.calls.size());
  calls_.resize(map.calls.size());
  why_not_.resize(map.calls.size());
  for (size_t i = 0; i < map.calls.size(); ++i) prepare(i);
  capture_ = std::make_unique<KernelCapture>(map_, plans_);
}

void KernelJudge::set_device(std::unique_ptr<Snapshots> snapshots, WeightOf weight_of) {
  device_ = snapshots->device();
  device_weight_of_ = std::move(weight_of);
  capture_->set_device(std::move(snapshots));
}

void KernelJudge::prepare(size_t index) {
  const MappedCall& mapped = map_.calls[index];
  if (!mapped.judged) {
    why_not_[index] = mapped.why_not;
    return;
  }
  Result<CompiledSlice> compiled = compile(slice_of_call(map_, mapped), archive_);
  if (!compiled) {
    why_not_[index] = compiled.error().what;
    return;
  }
  auto call = std::make_unique<Call>();
  call->compiled = std::move(*compiled);
  CapturePlan& plan = plans_[index];
  for (const Leaf& leaf : call->compiled.slice.leaves) {
    int entry = -1;
    c10::IValue fixed;
    if (leaf.kind == Leaf::Kind::kHeld) {
      entry = static_cast<int>(plan.reads.size());
      plan.reads.push_back({leaf.argument, leaf.label, /*on_entry=*/true});
    } else if (leaf.kind == Leaf::Kind::kConstant) {
      const at::Tensor weight = weight_of_(leaf.fqn);
      if (!weight.defined()) {
        why_not_[index] = "needs weight " + leaf.fqn + ", which the reference does not have";
        plan.reads.clear();
        return;
      }
      fixed = weight;
    } else if (leaf.kind == Leaf::Kind::kLiteral) {
      fixed = literal_of(map_.inputs[leaf.input]);
    }
    call->entry_of_leaf.push_back(entry);
    call->fixed.push_back(std::move(fixed));
  }
  for (const KernelSlice::Output& output : call->compiled.slice.outputs)
    plan.reads.push_back({output.argument, output.label, /*on_entry=*/false});
  calls_[index] = std::move(call);
}

/// The value that a buffer holds by a label; undefined when it depends on a size that is not known.
at::Tensor KernelJudge::value_in(const at::Tensor& buffer, const KernelLabel& label) const {
  at::Tensor value = buffer;
  if (!value.defined()) return value;
  if (label.rule == KernelLabel::Rule::kDivide) {
    const std::optional<int64_t> by =
        label.by.evaluate([&](const std::string& name) { return capture_->symbol(name); });
    if (!by) return {};
    value = value / static_cast<double>(*by);
  }
  const c10::ScalarType type = to_scalar_type(map_.graph.tensors.at(label.value).dtype);
  return type == c10::ScalarType::Undefined ? value : value.to(type);
}

bool KernelJudge::leaves_of(const Call& call, const CapturedCall& captured, std::vector<c10::IValue>* leaves,
                            std::string* why) const {
  const Expr::Lookup lookup = [&](const std::string& name) { return capture_->symbol(name); };
  const std::vector<Leaf>& wanted = call.compiled.slice.leaves;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Leaf& leaf = wanted[i];
    if (leaf.kind == Leaf::Kind::kSymbol) {
      const std::optional<int64_t> number = leaf.expression.evaluate(lookup);
      if (!number) {
        *why = "a size that depends on values";
        return false;
      }
      leaves->emplace_back(*number);
      continue;
    }
    if (leaf.kind != Leaf::Kind::kHeld) {
      leaves->push_back(call.fixed[i]);
      continue;
    }
    const at::Tensor& buffer = captured.entries[call.entry_of_leaf[i]];
    if (!buffer.defined()) {
      *why = captured.failure;
      return false;
    }
    const KernelLabel& label = map_.calls[captured.call].arguments[leaf.argument].entry[leaf.label];
    const TensorMeta& meta = map_.graph.tensors.at(leaf.value);
    at::Tensor value = value_in(buffer, label);
    // Views in the graph rely on the strides that it states.
    std::vector<int64_t> strides;
    for (const Expr& stride : meta.strides)
      if (const std::optional<int64_t> number = stride.evaluate(lookup)) strides.push_back(*number);
    if (value.defined() && strides.size() == static_cast<size_t>(value.dim()) &&
        value.strides() != at::IntArrayRef(strides))
      value = at::empty_strided(value.sizes(), strides, value.options()).copy_(value);
    if (!value.defined()) {
      *why = "a size that depends on values";
      return false;
    }
    leaves->emplace_back(std::move(value));
  }
  return true;
}

/// What eager on the device makes of the same leaves, which eager on the CPU accepted; copied home. Empty: it raises, or
/// cannot run there.
std::vector<at::Tensor> KernelJudge::device_outputs(Call& call, const std::vector<c10::IValue>& leaves,
                                                    FlightRecorder* recorder) {
  const Program& program = call.compiled.slice.program;
  if (!call.on_device)
    call.on_device =
        std::make_unique<ReferenceProgram>(program, archive_, contract_of(program), call.compiled.facts, *device_);
  if (!call.on_device->unsupported().empty()) return {};
  std::vector<c10::IValue> there;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = call.compiled.slice.leaves[i];
    if (!leaves[i].isTensor()) {
      there.push_back(leaves[i]);
    } else if (leaf.kind == Leaf::Kind::kConstant) {
      there.emplace_back(device_weight_of_(leaf.fqn));
    } else {
      there.emplace_back(leaves[i].toTensor().to(placed(map_.graph.tensors.at(leaf.value).device, *device_)));
    }
  }
  ReferenceProgram::Results results = call.on_device->run(there, {.recorder = recorder});
  if (results.outcome.kind != OutcomeKind::kFinished) return {};
  return copied_to(results.outputs, c10::kCPU);
}

KernelJudge::Verdict KernelJudge::judge_call(Call& call, const CapturedCall& captured, const Question& question) {
  Verdict verdict;
  std::vector<c10::IValue> leaves;
  if (!leaves_of(call, captured, &leaves, &verdict.why_not)) return verdict;
  SliceRuns runs(call.compiled, leaves, question.recorder);
  const RunRecord& reference = runs.run({RunKind::kReference, 0});
  if (reference.outcome.kind != OutcomeKind::kFinished) {
    verdict.why_not = "eager raises on what it is given: " + without_numbers(reference.outcome.message);
    return verdict;
  }
  const std::vector<KernelSlice::Output>& outputs = call.compiled.slice.outputs;
  std::vector<at::Tensor> on_device;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!captured.exits[i].defined()) {
      verdict.why_not = captured.failure;
      return verdict;
    }
    const KernelLabel& label = map_.calls[captured.call].arguments[outputs[i].argument].exit[outputs[i].label];
    const at::Tensor actual = value_in(captured.exits[i], label);
    if (!actual.defined()) {
      verdict.why_not = "a size that depends on values";
      return verdict;
    }
    const at::Tensor expected = runs.reference().outputs[i];
    if (!expected.defined() || actual.sizes() != expected.sizes() || actual.scalar_type() != expected.scalar_type()) {
      verdict.why_not = "eager gives " + label.value + " another shape or dtype than the map says";
      return verdict;
    }
    TensorAnswer answer = judge_output(runs, call.compiled, i, expected, actual, question.thorough);
    if (answer.kind == TensorAnswer::Kind::kDiffers && device_) {
      if (on_device.empty()) on_device = device_outputs(call, leaves, question.recorder);
      // Where eager does not run there either, the CPU's word stands.
      if (i < on_device.size() && on_device[i].defined() && on_device[i].sizes() == actual.sizes())
        answer = judge_output(runs, call.compiled, i, on_device[i], actual, question.thorough);
    }
    if (answer.kind == TensorAnswer::Kind::kUnjudged) {
      verdict.why_not = answer.reason;
      return verdict;
    }
    if (answer.kind == TensorAnswer::Kind::kDiffers) {
      verdict.wrong = i;
      verdict.answer = std::move(answer);
      break;
    }
  }
  verdict.judged = true;
  return verdict;
}

std::string KernelJudge::op_of(const std::string& value) const { return op_that_makes(map_.graph, value); }

KernelPlace KernelJudge::place_of(size_t call, size_t argument, const std::string& value) const {
  KernelPlace place;
  place.call = call;
  place.kernel = map_.calls[call].kernel;
  place.argument = argument_name(map_.calls[call].arguments[argument]);
  place.value = value;
  if (calls_[call])
    for (const OutputFacts& output : calls_[call]->compiled.facts.outputs)
      if (output.node == value) place.op = output.op;
  return place;
}

KernelRecord KernelJudge::judge(const Question& question) {
  KernelRecord record;
  std::set<size_t> judged;
  for (const CapturedCall& captured : question.calls) {
    ++record.seen;
    const auto say = [&](std::string verdict) {
      if (question.every)
        record.calls.push_back({.call = captured.call, .verdict = std::move(verdict), .inherited = {}});
    };
    if (!calls_[captured.call]) {
      ++record.not_judged[why_not_[captured.call]];
      say("not judged: " + why_not_[captured.call]);
      continue;
    }
    if (question.recorder) question.recorder->set_step(map_.calls[captured.call].kernel);
    Call& call = *calls_[captured.call];
    Verdict verdict = judge_call(call, captured, question);
    if (!verdict.judged) {
      ++record.not_judged[verdict.why_not];
      say("not judged: " + verdict.why_not);
      continue;
    }
    ++record.judged;
    judged.insert(captured.call);
    if (!verdict.wrong) {
      say("right");
      continue;
    }
    const KernelSlice::Output& output = call.compiled.slice.outputs[*verdict.wrong];
    const std::string& value = map_.calls[captured.call].arguments[output.argument].exit[output.label].value;
    say("WRONG in " + value + ", " + std::to_string(verdict.answer.differing) + " of " +
        std::to_string(verdict.answer.total) + " elements, first " + verdict.answer.index + ": " +
        verdict.answer.actual + ", eager has " + verdict.answer.expected);
    if (!record.first)
      record.first = KernelRecord::Fault{.place = place_of(captured.call, output.argument, value),
                                         .answer = std::move(verdict.answer),
                                         .inputs_wrong = {}};
    // Later calls work on what this one left: theirs are judged on their own inputs, but the first is the one to name.
    if (!question.every) break;
  }
  if (question.trace_back || record.first) trace_back(question, judged, &record);
  return record;
}

std::map<std::string, at::Tensor> KernelJudge::reference_values(const Question& question) {
  std::map<std::string, at::Tensor> values;
  if (!whole_) {
    std::vector<std::string> names;
    for (size_t i = 0; i < calls_.size(); ++i)
      if (calls_[i])
        for (const Leaf& leaf : calls_[i]->compiled.slice.leaves)
          if (leaf.kind == Leaf::Kind::kHeld && std::find(names.begin(), names.end(), leaf.value) == names.end() &&
              slice_of_values(map_, {leaf.value}))
            names.push_back(leaf.value);
    Result<CompiledSlice> whole = compile(slice_of_values(map_, names), archive_);
    whole_ = whole ? std::move(*whole) : CompiledSlice();
  }
  if (!whole_->program) return values;
  std::vector<c10::IValue> leaves;
  for (const Leaf& leaf : whole_->slice.leaves) {
    if (leaf.kind == Leaf::Kind::kUser) {
      if (leaf.input >= question.inputs.size()) return values;
      leaves.emplace_back(question.inputs[leaf.input].clone());
    } else if (leaf.kind == Leaf::Kind::kConstant) {
      leaves.emplace_back(weight_of_(leaf.fqn));
    } else if (leaf.kind == Leaf::Kind::kLiteral) {
      leaves.emplace_back(literal_of(map_.inputs[leaf.input]));
    } else {
      const std::optional<int64_t> number =
          leaf.expression.evaluate([&](const std::string& name) { return capture_->symbol(name); });
      if (!number) return values;
      leaves.emplace_back(*number);
    }
  }
  ReferenceProgram::Results results = whole_->program->run(leaves, {.recorder = question.recorder});
  if (results.outcome.kind != OutcomeKind::kFinished) return values;
  const std::vector<GraphOutput>& outputs = whole_->slice.program.outputs;
  for (size_t i = 0; i < outputs.size() && i < results.outputs.size(); ++i)
    values[outputs[i].value.name] = results.outputs[i];
  return values;
}

}  // namespace aotifuzz
