#include "worker/reference_program.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

#include <map>

#include "worker/device_copies.h"
#include "worker/device_graph.h"
#include "worker/error_text.h"
#include "worker/interpreter.h"

namespace aotifuzz {

/// Remembers the bytes of weight storages before an op writes them, and puts them back: which ops write a buffer is
/// known exactly only while they run (views, conditional branches), and most programs write none, so nothing is copied
/// ahead.
class ReferenceProgram::WeightKeeper {
 public:
  explicit WeightKeeper(const WeightStore& weights) : weights_(weights) {}
  ~WeightKeeper() {
    for (const auto& [storage, saved] : saved_) saved.now.copy_(saved.before);
  }
  WeightKeeper(const WeightKeeper&) = delete;
  WeightKeeper& operator=(const WeightKeeper&) = delete;

  void before_write(const at::Tensor& tensor) {
    if (!tensor.has_storage() || !weights_.owns_storage(tensor.storage().data())) return;
    c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    auto [it, fresh] = saved_.try_emplace(storage);
    if (!fresh) return;
    it->second.now = bytes_of(tensor.storage());
    it->second.before = it->second.now.clone();
  }
  bool has_saved(const at::Tensor& weight) const { return saved_.contains(weight.storage().unsafeGetStorageImpl()); }
  bool empty() const { return saved_.empty(); }
  /// A result that lives in a storage that will be put back needs memory of its own.
  at::Tensor detached(const at::Tensor& tensor) const {
    if (saved_.empty() || !tensor.defined() || !tensor.has_storage()) return tensor;
    return saved_.contains(tensor.storage().unsafeGetStorageImpl()) ? tensor.clone() : tensor;
  }

 private:
  const WeightStore& weights_;
  struct Saved {
    at::Tensor now, before;  ///< the storage's bytes, and a copy of them
  };
  std::map<c10::StorageImpl*, Saved> saved_;
};

ReferenceProgram::ReferenceProgram(const Program& program, const std::string& archive, const Contract& contract,
                                   const ProgramFacts& facts, c10::Device device)
    : compiled_(compile_graph(graph_on(program.graph, device))),
      weights_(program, archive, device),
      outputs_(program.outputs) {
  unsupported_ = compiled_.unsupported;
  for (const std::string& weight : weights_.unsupported()) unsupported_.push_back(weight);
  bind_inputs(program, contract);
  bind_watched(facts);
  for (const Instruction& instruction : compiled_.block->code)
    writes_ = writes_ || !instruction.written.empty() || instruction.higher_order;
}

void ReferenceProgram::bind_inputs(const Program& program, const Contract& contract) {
  inputs_taken_ = contract.inputs.size();
  if (program.inputs.size() != compiled_.block->inputs.size()) {
    unsupported_.push_back("graph inputs: their number differs from the signature's");
    return;
  }
  for (const GraphInput& input : program.inputs) {
    Source source;
    source.kind = input.kind;
    source.fqn = input.target;
    switch (input.kind) {
      case GraphInput::Kind::kUser:
        source.user = contract.find_input(input.name);
        break;
      case GraphInput::Kind::kConstant:
        break;  // fixed at export and never read by the graph as a value
      case GraphInput::Kind::kParameter:
      case GraphInput::Kind::kBuffer:
      case GraphInput::Kind::kTensorConstant:
        if (!weights_.find(source.fqn).defined())
          unsupported_.push_back("graph input " + input.name + ": the archive has no weight " + source.fqn);
        break;
      case GraphInput::Kind::kCustomObj:
      case GraphInput::Kind::kToken:
        unsupported_.push_back("graph input " + input.name + ": custom objects and tokens are not supported");
        break;
    }
    if (input.kind == GraphInput::Kind::kUser && source.user < 0)
      unsupported_.push_back("graph input " + input.name + ": the contract does not know it");
    sources_.push_back(std::move(source));
  }
  for (const GraphOutput& output : outputs_) {
    const bool mutates = output.kind == GraphOutput::Kind::kUserInputMutation;
    output_user_input_.push_back(mutates ? contract.find_input(output.target) : -1);
    if (mutates && output_user_input_.back() < 0)
      unsupported_.push_back("mutated input " + output.target + ": the contract does not know it");
  }
  if (outputs_.size() != compiled_.block->outputs.size())
    unsupported_.push_back("graph outputs: their number differs from the signature's");
}

void ReferenceProgram::bind_watched(const ProgramFacts& facts) {
  std::map<std::string, int> id_of_node;
  std::map<int, int> id_of_slot;
  for (const Instruction& instruction : compiled_.block->code) {
    id_of_node[instruction.info.node] = instruction.info.id;
    for (const ResultPlace& place : instruction.results) {
      if (place.slot >= 0) id_of_slot[place.slot] = instruction.info.id;
      for (int item : place.items) id_of_slot[item] = instruction.info.id;
    }
  }
  for (const std::string& name : facts.watched) {
    const auto slot = compiled_.slots.find(name);
    if (slot == compiled_.slots.end()) continue;
    Watch watch;
    watch.slot = slot->second;
    watch.name = name;
    for (const OutputFacts& output : facts.outputs)
      if (output.arg_operand == name && id_of_node.contains(output.arg_node))
        watch.before_id = id_of_node[output.arg_node];
    if (watch.before_id < 0 && id_of_slot.contains(watch.slot)) watch.after_id = id_of_slot[watch.slot];
    watches_.push_back(std::move(watch));
  }
  watched_ids_.assign(compiled_.ids, false);
  for (const Watch& watch : watches_) {
    if (watch.before_id >= 0) watched_ids_[watch.before_id] = true;
    if (watch.after_id >= 0) watched_ids_[watch.after_id] = true;
  }
}

std::vector<c10::IValue> ReferenceProgram::gather(std::span<const c10::IValue> inputs, const Options& options,
                                                  Results& results) {
  if (inputs.size() != inputs_taken_)
    throw std::invalid_argument("the program takes " + std::to_string(inputs_taken_) + " inputs, " +
                                std::to_string(inputs.size()) + " given");
  for (const c10::IValue& input : inputs)
    results.inputs_after.push_back(input.isTensor() ? input.toTensor() : at::Tensor());
  if (options.wide) results.inputs_after = widened(results.inputs_after);
  std::vector<c10::IValue> values;
  values.reserve(sources_.size());
  for (const Source& source : sources_) {
    switch (source.kind) {
      case GraphInput::Kind::kUser:
        values.push_back(results.inputs_after[source.user].defined() ? c10::IValue(results.inputs_after[source.user])
                                                                     : inputs[source.user]);
        break;
      case GraphInput::Kind::kConstant:
        values.push_back(c10::IValue());
        break;
      default:
        values.push_back(options.wide ? weights_.find_wide(source.fqn) : weights_.find(source.fqn));
    }
  }
  return values;
}

void ReferenceProgram::execute(std::vector<c10::IValue> values, const Options& options, WeightKeeper& keeper,
                               Results& results) {
  const auto record = [&](const Watch& watch, const c10::IValue& value) {
    if (!value.isTensor()) return;
    const at::Tensor& tensor = value.toTensor();
    results.watched.emplace_back(watch.name, writes_ ? tensor.clone() : tensor);
  };
  for (const Watch& watch : watches_) {
    if (watch.before_id >= 0 || watch.after_id >= 0) continue;
    for (size_t i = 0; i < values.size(); ++i)
      if (compiled_.block->inputs[i] == watch.slot) record(watch, values[i]);
  }
  Interpreter::Hooks hooks;
  hooks.node_hook = options.node_hook;
  hooks.recorder = options.recorder;
  if (writes_) hooks.before_write = [&](const at::Tensor& tensor) { keeper.before_write(tensor); };
  if (!watches_.empty()) {
    hooks.watched_nodes = &watched_ids_;
    hooks.around_instruction = [&](const Instruction& instruction, std::span<const c10::IValue> frame, bool before) {
      for (const Watch& watch : watches_)
        if ((before ? watch.before_id : watch.after_id) == instruction.info.id) record(watch, frame[watch.slot]);
    };
  }
  const std::vector<c10::IValue> outputs = Interpreter(std::move(hooks)).run(*compiled_.block, std::move(values));
  collect(outputs, results);
  for (at::Tensor& output : results.outputs) output = keeper.detached(output);
  note_written_buffers(keeper);
}

bool ReferenceProgram::writes_weights() const {
  const bool has_any = std::any_of(sources_.begin(), sources_.end(), [](const Source& source) {
    return source.kind == GraphInput::Kind::kParameter || source.kind == GraphInput::Kind::kBuffer ||
           source.kind == GraphInput::Kind::kTensorConstant;
  });
  if (!has_any) return false;
  return writes_ || std::any_of(outputs_.begin(), outputs_.end(), [](const GraphOutput& output) {
           return output.kind == GraphOutput::Kind::kBufferMutation ||
                  output.kind == GraphOutput::Kind::kParameterMutation;
         });
}

void ReferenceProgram::note_written_buffers(const WeightKeeper& keeper) {
  // A functionalised program says what it writes, any other was just seen writing.
  for (const GraphOutput& output : outputs_)
    if (output.kind == GraphOutput::Kind::kBufferMutation)
      written_buffers_.emplace(output.target, weights_.find(output.target));
  if (keeper.empty()) return;
  for (const Source& source : sources_) {
    const at::Tensor weight = weights_.find(source.fqn);
    if (weight.defined() && keeper.has_saved(weight)) written_buffers_.emplace(source.fqn, weight);
  }
}

void ReferenceProgram::collect(const std::vector<c10::IValue>& outputs, Results& results) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const c10::IValue& value = outputs[i];
    if (outputs_[i].kind == GraphOutput::Kind::kUserInputMutation) {
      results.inputs_after[output_user_input_[i]].copy_(value.toTensor());
    } else if (outputs_[i].kind != GraphOutput::Kind::kUser) {
      continue;  // a new value of a buffer: buffers start each run as exported
    } else if (value.isTensor()) {
      results.outputs.push_back(value.toTensor());
    } else if (value.isScalar()) {
      results.outputs.push_back(at::scalar_tensor(value.toScalar(), at::TensorOptions(value.toScalar().type())));
    } else {
      results.outputs.emplace_back();
    }
  }
}

ReferenceProgram::Results ReferenceProgram::run(std::span<const c10::IValue> inputs, const Options& options) {
  Results results;
  results.outcome.stage = options.wide ? Stage::kReferee : Stage::kReference;
  const auto failed = [&](std::string_view text) {
    results.outcome.kind = is_out_of_memory(text) ? OutcomeKind::kOutOfMemory : OutcomeKind::kRejected;
    results.outcome.message = clean_error(text);
    results.outputs.clear();
    results.watched.clear();
  };
  WeightKeeper keeper(weights_);
  try {
    execute(gather(inputs, options, results), options, keeper, results);
  } catch (const std::bad_alloc&) {
    failed("bad_alloc");
  } catch (const c10::Error& error) {
    failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    failed(error.what());
  }
  return results;
}

}  // namespace aotifuzz
