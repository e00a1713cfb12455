#include "tests/support/tiny_program.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/check.h"
#include "oracles/catalog.h"
#include "oracles/legal_sampler.h"
#include "oracles/op_schema.h"
#include "oracles/program_facts_builder.h"
#include "oracles/scalar_types.h"

namespace aotifuzz::testing {
namespace {

using Kind = Argument::Kind;
using Values = std::map<std::string, at::Tensor>;

c10::IValue to_ivalue(const Argument& argument, const c10::Argument& schema, const Values& values) {
  switch (argument.kind) {
    case Kind::kTensor:
      return values.at(argument.name);
    case Kind::kInt:
      return schema.type()->kind() == c10::TypeKind::FloatType ? c10::IValue(double(argument.integer))
                                                               : c10::IValue(argument.integer);
    case Kind::kFloat:
      return argument.real;
    case Kind::kBool:
      return argument.boolean;
    case Kind::kScalarType:
      return static_cast<int64_t>(scalar_type_of(static_cast<Dtype>(argument.integer)));
    case Kind::kList: {
      if (argument.element_kind == Kind::kTensor) {
        const bool optional = schema.type()->str().find("?") != std::string::npos ||
                              schema.type()->str().find("Optional") != std::string::npos;
        c10::List<at::Tensor> tensors;
        c10::List<std::optional<at::Tensor>> optionals;
        for (const Argument& item : argument.items) {
          tensors.push_back(values.at(item.name));
          optionals.push_back(values.at(item.name));
        }
        return optional ? c10::IValue(optionals) : c10::IValue(tensors);
      }
      c10::List<int64_t> numbers;
      for (const Argument& item : argument.items) numbers.push_back(item.integer);
      return numbers;
    }
    default:
      return {};
  }
}

/// Runs one node; results as tensors, lists flattened.
std::vector<at::Tensor> run_node(const Node& node, const Values& values, NodeHook* hook, int id) {
  const c10::FunctionSchema* schema = find_op_schema(node.target);
  AOTIFUZZ_CHECK(schema) << node.target;
  torch::jit::Stack stack;
  NodeHook::OpInfo info{id, node.name, node.target, false};
  for (const c10::Argument& argument : schema->arguments()) {
    const Node::Input* given = nullptr;
    for (const Node::Input& input : node.inputs)
      if (input.name == argument.name()) given = &input;
    if (given) {
      stack.push_back(to_ivalue(given->value, argument, values));
      // Python's argument parser makes 0-d "wrapped number" tensors of numbers.
      if (argument.type()->kind() == c10::TypeKind::TensorType && !stack.back().isTensor() && stack.back().isScalar()) {
        at::Tensor number =
            at::scalar_tensor(stack.back().toScalar(), stack.back().isDouble() ? at::kDouble : at::kLong);
        number.unsafeGetTensorImpl()->set_wrapped_number(true);
        stack.back() = number;
      }
    } else {
      stack.push_back(argument.default_value().value_or(c10::IValue()));
    }
    info.mutates |= argument.alias_info() && argument.alias_info()->isWrite();
  }
  if (hook) hook->before(info, stack);
  c10::Dispatcher::singleton().findSchema(schema->operator_name())->callBoxed(stack);
  if (hook) hook->after(info, stack);
  std::vector<at::Tensor> results;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) results.push_back(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(tensor);
  }
  return results;
}

}  // namespace

std::string TinyProgram::input(const std::string& name, const at::Tensor& example) {
  GraphInput input;
  input.name = name;
  input.value = value(name);
  program_.inputs.push_back(input);
  program_.graph.inputs.push_back(input.value);
  program_.graph.tensors[name].dtype = dtype_of(example.scalar_type());
  examples_.push_back(example);
  return name;
}

std::vector<std::string> TinyProgram::call(const std::string& target, const Arguments& arguments) {
  Node node;
  node.target = "torch.ops." + target;
  node.name = "node_" + std::to_string(program_.graph.nodes.size());
  for (const auto& [name, argument] : arguments) node.inputs.push_back({name, argument, false});
  // The dtypes of the results are learned by running what there is on the examples.
  Values known;
  for (size_t i = 0; i < examples_.size(); ++i) known[program_.inputs[i].name] = examples_[i].clone();
  for (size_t n = 0; n < program_.graph.nodes.size(); ++n) {
    const std::vector<at::Tensor> results = run_node(program_.graph.nodes[n], known, nullptr, static_cast<int>(n));
    for (size_t i = 0; i < results.size(); ++i) known[program_.graph.nodes[n].outputs[i].name] = results[i];
  }
  const std::vector<at::Tensor> results = run_node(node, known, nullptr, 0);
  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i) {
    names.push_back(node.name + (i ? "_" + std::to_string(i) : ""));
    node.outputs.push_back(value(names.back()));
    program_.graph.tensors[names.back()].dtype = dtype_of(results[i].scalar_type());
  }
  program_.graph.nodes.push_back(std::move(node));
  return names;
}

void TinyProgram::output(const std::string& name) {
  GraphOutput output;
  output.value = value(name);
  program_.outputs.push_back(output);
  program_.graph.outputs.push_back(output.value);
}

Argument TinyProgram::value(const std::string& name) {
  Argument argument;
  argument.kind = Kind::kTensor;
  argument.name = name;
  return argument;
}

Argument TinyProgram::values(const std::vector<std::string>& names) {
  Argument argument;
  argument.kind = Kind::kList;
  argument.element_kind = Kind::kTensor;
  for (const std::string& name : names) argument.items.push_back(value(name));
  return argument;
}

Argument TinyProgram::number(int64_t value) {
  Argument argument;
  argument.kind = Kind::kInt;
  argument.integer = value;
  return argument;
}

Argument TinyProgram::number(double value) {
  Argument argument;
  argument.kind = Kind::kFloat;
  argument.real = value;
  return argument;
}

Argument TinyProgram::truth(bool value) {
  Argument argument;
  argument.kind = Kind::kBool;
  argument.boolean = value;
  return argument;
}

Argument TinyProgram::numbers(const std::vector<int64_t>& values) {
  Argument argument;
  argument.kind = Kind::kList;
  argument.element_kind = Kind::kInt;
  for (int64_t value : values) argument.items.push_back(number(value));
  return argument;
}

Argument TinyProgram::dtype(Dtype value) {
  Argument argument;
  argument.kind = Kind::kScalarType;
  argument.integer = static_cast<int64_t>(value);
  return argument;
}

ProgramFacts TinyProgram::facts() const { return build_program_facts(program_); }

RunRecord TinyProgram::run(const RunRequest& request, const std::vector<at::Tensor>& inputs) const {
  at::set_num_threads(1);  // as the worker does; a pool of threads only costs on tensors this small
  RunRecord record;
  record.request = request;
  const ProgramFacts facts = this->facts();
  std::unique_ptr<NodeHook> hook;
  if (request.kind == RunKind::kReferenceF64) hook = make_f64_hook(facts);
  if (request.kind == RunKind::kReferenceSampled) hook = make_sampled_hook(facts, request.seed);
  Values values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor fresh = inputs[i].clone();
    record.inputs_after.push_back(hook ? fresh.to(referee_type(fresh.scalar_type())) : fresh);
    values[program_.inputs[i].name] = record.inputs_after.back();
  }
  try {
    for (size_t n = 0; n < program_.graph.nodes.size(); ++n) {
      const Node& node = program_.graph.nodes[n];
      const std::vector<at::Tensor> results = run_node(node, values, hook.get(), static_cast<int>(n));
      for (size_t i = 0; i < results.size(); ++i) values[node.outputs.at(i).name] = results[i];
    }
    for (const GraphOutput& output : program_.outputs) record.outputs.push_back(values.at(output.value.name));
    for (const std::string& name : facts.watched) record.watched.emplace_back(name, values.at(name).clone());
  } catch (const std::exception& error) {
    record.outcome.kind = OutcomeKind::kRejected;
    record.outcome.message = std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
  }
  return record;
}

RunRecord copy_of(const RunRecord& record, const RunRequest& request) {
  RunRecord copy = record;
  copy.request = request;
  copy.watched.clear();
  for (auto* tensors : {&copy.outputs, &copy.inputs_after})
    for (at::Tensor& tensor : *tensors)
      if (tensor.defined()) tensor = tensor.clone();
  return copy;
}

Scenario::Scenario(TinyProgram tiny, std::vector<at::Tensor> input_values)
    : program(std::move(tiny)), inputs(std::move(input_values)), facts(program.facts()) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    CaseInput tensor;
    tensor.name = program.program().inputs[i].name;
    tensor.dtype = dtype_of(inputs[i].scalar_type());
    tensor.sizes = inputs[i].sizes().vec();
    input.inputs.push_back(tensor);
    InputSpec spec;
    spec.name = tensor.name;
    spec.dtype = tensor.dtype;
    contract.inputs.push_back(spec);
  }
  reference = program.run({RunKind::kReference, 0}, inputs);
  subject = copy_of(reference, {RunKind::kSubject, 0});
  again = copy_of(reference, {RunKind::kSubjectAgain, 1});
  input.then.push_back({input.inputs, 1});
  input.runs = static_cast<int>(memory_in_use.size());
  kernels.seen = kernels.judged = 1;
}

Judgement Scenario::judge(const Oracle& oracle, std::vector<RunKind> missing) const {
  const CaseContext context{.input = input,
                            .contract = contract,
                            .violations = violations,
                            .facts = facts,
                            .has_reference = has_reference,
                            .has_kernels = true,
                            .judge_kernels = true,
                            .inputs_before = inputs};
  RunRecords records;
  const auto wanted = [&](RunKind kind) { return std::find(missing.begin(), missing.end(), kind) == missing.end(); };
  if (has_reference && wanted(RunKind::kReference)) records.add(reference);
  if (wanted(RunKind::kSubject)) records.add(subject);
  if (wanted(RunKind::kSubjectAgain)) records.add(again);
  for (const RunRequest& request : oracle.plan(context)) {
    if (!wanted(RunKind::kSubject) || !wanted(request.kind) || records.find(request)) continue;
    const bool repeats = request.kind == RunKind::kSubjectAgain && request.seed >= kChosenMemory;
    if (repeats) records.add(copy_of(repetition ? *repetition : subject, request));
    if (request.kind == RunKind::kSubjectThen) records.add(copy_of(then ? *then : subject, request));
    if (request.kind == RunKind::kSubjectCallers) records.add(copy_of(callers ? *callers : subject, request));
    if (request.kind != RunKind::kSubjectMany) continue;
    RunRecord run = copy_of(subject, request);
    run.memory_in_use = memory_in_use;
    records.add(std::move(run));
  }
  if (wanted(RunKind::kSubjectKernels)) {
    RunRecord run = copy_of(subject, {RunKind::kSubjectKernels, 0});
    run.kernels = std::make_shared<KernelRecord>(kernels);
    records.add(std::move(run));
  }
  for (int round = 0;; ++round) {
    AOTIFUZZ_CHECK(round < 10) << "an oracle asks for runs without end";
    Judgement judgement = oracle.judge(context, records);
    if (judgement.more_runs.empty()) return judgement;
    for (const RunRequest& request : judgement.more_runs) {
      if (records.find(request) || !wanted(request.kind)) continue;
      const bool many = request.kind == RunKind::kSubjectMany;
      RunRecord record = many ? copy_of(subject, request) : program.run(request, inputs);
      if (many) record.memory_in_use = memory_in_use_further.value_or(memory_in_use);
      if (change_referee) change_referee(record);
      records.add(std::move(record));
    }
  }
}

Verdict Scenario::verdict(std::string_view name) const {
  for (const OracleRow& row : oracle_rows())
    if (row.name == name) return judge(*row.make()).verdicts.at(0);
  throw std::invalid_argument("no oracle of this name");
}

}  // namespace aotifuzz::testing
