#include "worker/interpreter.h"

#include <ATen/ATen.h>
#include <ATen/ScalarOps.h>

#include <stdexcept>

#include "core/check.h"

namespace aotifuzz {
namespace {

c10::IValue number_of(const at::Tensor& tensor) { return c10::IValue(tensor.item()); }

c10::IValue coerce(const c10::IValue& value, Coercion coercion) {
  switch (coercion) {
    case Coercion::kNone:
      return value;
    case Coercion::kTensor: {
      if (!value.isScalar()) return value;
      at::Tensor tensor = at::scalar_to_tensor(value.toScalar());
      tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
      return tensor;
    }
    case Coercion::kScalar:
      return value.isTensor() ? number_of(value.toTensor()) : value;
    case Coercion::kInt:
      if (value.isTensor()) return coerce(number_of(value.toTensor()), coercion);
      if (value.isBool()) return static_cast<int64_t>(value.toBool());
      if (value.isDouble()) throw std::runtime_error("an int is wanted, the program computed a float");
      return value;
    case Coercion::kFloat:
      if (value.isTensor()) return coerce(number_of(value.toTensor()), coercion);
      if (value.isInt()) return static_cast<double>(value.toInt());
      if (value.isBool()) return value.toBool() ? 1.0 : 0.0;
      return value;
  }
  return value;
}

c10::IValue evaluate_list(const Operand& list, std::span<const c10::IValue> frame) {
  switch (list.list_type) {
    case ListType::kTensor: {
      c10::List<at::Tensor> out;
      out.reserve(list.items.size());
      for (const Operand& item : list.items) out.push_back(evaluate(item, frame).toTensor());
      return out;
    }
    case ListType::kOptionalTensor: {
      c10::List<std::optional<at::Tensor>> out;
      out.reserve(list.items.size());
      for (const Operand& item : list.items) {
        const c10::IValue value = evaluate(item, frame);
        out.push_back(value.isNone() ? std::nullopt : std::optional<at::Tensor>(value.toTensor()));
      }
      return out;
    }
    case ListType::kInt: {
      c10::List<int64_t> out;
      out.reserve(list.items.size());
      for (const Operand& item : list.items) out.push_back(evaluate(item, frame).toInt());
      return out;
    }
    case ListType::kFloat: {
      c10::List<double> out;
      for (const Operand& item : list.items) out.push_back(evaluate(item, frame).toDouble());
      return out;
    }
    case ListType::kBool: {
      c10::List<bool> out;
      for (const Operand& item : list.items) out.push_back(evaluate(item, frame).toBool());
      return out;
    }
    case ListType::kGeneric:
      break;
  }
  c10::impl::GenericList out(c10::AnyType::get());
  for (const Operand& item : list.items) out.push_back(evaluate(item, frame));
  return out;
}

}  // namespace

c10::IValue evaluate(const Operand& operand, std::span<const c10::IValue> frame) {
  switch (operand.kind) {
    case Operand::Kind::kSlot:
      return coerce(frame[operand.slot], operand.coercion);
    case Operand::Kind::kConstant:
      return operand.constant;
    case Operand::Kind::kList:
      return evaluate_list(operand, frame);
  }
  return {};
}

std::vector<c10::IValue> Interpreter::run(const Block& block, std::vector<c10::IValue> inputs) {
  if (inputs.size() != block.inputs.size()) throw std::runtime_error("wrong number of inputs for a graph");
  std::vector<c10::IValue> frame(block.slots);
  for (size_t i = 0; i < inputs.size(); ++i) frame[block.inputs[i]] = std::move(inputs[i]);
  for (const Instruction& instruction : block.code) {
    const bool watched = hooks_.watched_nodes && (*hooks_.watched_nodes)[instruction.info.id];
    if (watched) hooks_.around_instruction(instruction, frame, true);
    run_instruction(instruction, frame);
    if (watched) hooks_.around_instruction(instruction, frame, false);
    for (int slot : instruction.frees) frame[slot] = c10::IValue();
  }
  std::vector<c10::IValue> outputs;
  outputs.reserve(block.outputs.size());
  for (const Operand& output : block.outputs) outputs.push_back(evaluate(output, frame));
  return outputs;
}

void Interpreter::run_instruction(const Instruction& instruction, std::vector<c10::IValue>& frame) {
  if (hooks_.recorder) hooks_.recorder->set_step(instruction.info.target);
  if (instruction.op) {
    run_op(instruction, frame);
  } else if (instruction.number_function) {
    std::vector<c10::IValue> arguments;
    arguments.reserve(instruction.arguments.size());
    for (const Operand& operand : instruction.arguments) {
      c10::IValue value = evaluate(operand, frame);
      if (value.isTensor()) value = number_of(value.toTensor());
      arguments.push_back(std::move(value));
    }
    std::vector<c10::IValue> results;
    results.push_back(instruction.number_function(arguments));
    store(instruction, std::move(results), frame);
  } else {
    run_higher_order(instruction, frame);
  }
}

void Interpreter::run_op(const Instruction& instruction, std::vector<c10::IValue>& frame) {
  if (instruction.checks_metadata && hooks_.node_hook) return;
  // Sub-graphs run inside higher-order ops only, never inside an op, so one stack serves all.
  stack_.clear();
  for (const Operand& operand : instruction.arguments) stack_.push_back(evaluate(operand, frame));
  if (hooks_.node_hook) hooks_.node_hook->before(instruction.info, stack_);
  if (!instruction.written.empty() && hooks_.before_write) {
    for (int index : instruction.written) {
      const c10::IValue& value = stack_[index];
      if (value.isTensor() && value.toTensor().defined()) hooks_.before_write(value.toTensor());
      if (value.isTensorList())
        for (const at::Tensor& tensor : value.toTensorVector()) hooks_.before_write(tensor);
    }
  }
  instruction.op->callBoxed(stack_);
  if (hooks_.node_hook) hooks_.node_hook->after(instruction.info, stack_);
  // Most ops have one result, and it goes to one slot.
  if (stack_.size() == 1 && instruction.results.size() == 1 && !instruction.results[0].is_list) {
    if (instruction.results[0].slot >= 0) frame[instruction.results[0].slot] = std::move(stack_[0]);
    stack_.clear();
    return;
  }
  std::vector<c10::IValue> results(std::make_move_iterator(stack_.begin()), std::make_move_iterator(stack_.end()));
  stack_.clear();
  store(instruction, std::move(results), frame);
}

void Interpreter::run_higher_order(const Instruction& instruction, std::vector<c10::IValue>& frame) {
  std::vector<HigherOrderArgument> arguments(instruction.arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Operand& operand = instruction.arguments[i];
    arguments[i].block = instruction.blocks[i].get();
    arguments[i].name = instruction.keywords[i];
    if (operand.kind == Operand::Kind::kList) {
      for (const Operand& item : operand.items) arguments[i].list.push_back(evaluate(item, frame));
    } else {
      arguments[i].value = evaluate(operand, frame);
    }
  }
  store(instruction, instruction.higher_order(*this, arguments), frame);
}

void Interpreter::store(const Instruction& instruction, std::vector<c10::IValue>&& values,
                        std::vector<c10::IValue>& frame) {
  const std::vector<ResultPlace>& places = instruction.results;
  // A higher-order op with one list result ("as_tensors") gives its tensors directly.
  if (instruction.higher_order && places.size() == 1 && places[0].is_list) {
    for (size_t i = 0; i < places[0].items.size() && i < values.size(); ++i)
      if (places[0].items[i] >= 0) frame[places[0].items[i]] = std::move(values[i]);
    return;
  }
  for (size_t i = 0; i < places.size() && i < values.size(); ++i) {
    if (!places[i].is_list) {
      if (places[i].slot >= 0) frame[places[i].slot] = std::move(values[i]);
      continue;
    }
    if (!values[i].isList()) throw std::runtime_error("a list result was expected of " + instruction.info.target);
    const c10::ArrayRef<c10::IValue> list = values[i].toListRef();
    if (list.size() < places[i].items.size())
      throw std::runtime_error(instruction.info.target + " gave fewer results than the program uses");
    for (size_t k = 0; k < places[i].items.size(); ++k)
      if (places[i].items[k] >= 0) frame[places[i].items[k]] = list[k];
  }
}

}  // namespace aotifuzz
