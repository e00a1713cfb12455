#include "worker/program_compiler.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <set>

#include "worker/argument_binding.h"
#include "worker/higher_order_ops.h"
#include "worker/number_functions.h"

namespace aotifuzz {
namespace {

constexpr std::string_view kOpsPrefix = "torch.ops.";
constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

/// Composite normalisation ops write their running statistics though their schemas do not say so.
constexpr std::string_view kRunningStatistics[] = {"running_mean", "running_var"};
constexpr std::string_view kTrainingFlags[] = {"training", "train", "use_input_stats"};

class GraphCompiler {
 public:
  GraphCompiler(int* next_id, std::vector<std::string>* unsupported) : next_id_(next_id), unsupported_(unsupported) {}

  std::shared_ptr<Block> compile(const Graph& graph);
  std::map<std::string, int> take_slots() { return std::move(slots_); }

 private:
  bool compile_node(const Node& node, Instruction& out);
  bool compile_op(const Node& node, std::string_view path, Instruction& out);
  bool compile_higher_order(const Node& node, std::string_view name, Instruction& out);
  bool compile_number_function(const Node& node, Instruction& out);
  void find_written(const c10::FunctionSchema& schema, Instruction& out) const;
  ResultPlace place_of(const Argument& output);
  int define(const std::string& name);
  bool refuse(const Node& node, const std::string& why) {
    unsupported_->push_back("node " + node.name + ": " + node.target + ": " + why);
    return false;
  }

  int* next_id_;
  std::vector<std::string>* unsupported_;
  std::map<std::string, int> slots_;
  int count_ = 0;
  SlotOf slot_of_ = [this](const std::string& name) -> std::optional<int> {
    const auto it = slots_.find(name);
    return it == slots_.end() ? std::nullopt : std::optional<int>(it->second);
  };
};

int GraphCompiler::define(const std::string& name) {
  const auto [it, fresh] = slots_.try_emplace(name, count_);
  if (fresh) ++count_;
  return it->second;
}

ResultPlace GraphCompiler::place_of(const Argument& output) {
  ResultPlace place;
  if (output.kind == Argument::Kind::kList) {
    place.is_list = true;
    for (const Argument& item : output.items) place.items.push_back(item.name.empty() ? -1 : define(item.name));
  } else if (output.kind != Argument::Kind::kNone && !output.name.empty()) {
    place.slot = define(output.name);
  }
  return place;
}

bool GraphCompiler::compile_op(const Node& node, std::string_view path, Instruction& out) {
  const size_t first = path.find('.');
  const size_t last = path.rfind('.');
  if (first == std::string_view::npos || first == last) return refuse(node, "not an operator overload");
  const std::string name =
      std::string(path.substr(0, first)) + "::" + std::string(path.substr(first + 1, last - first - 1));
  const std::string_view overload = path.substr(last + 1);
  const auto handle =
      c10::Dispatcher::singleton().findSchema({name, overload == "default" ? "" : std::string(overload)});
  if (!handle) return refuse(node, "no such operator in this process (a custom op: load its library with --ops)");
  const c10::FunctionSchema& schema = handle->schema();
  out.op = *handle;
  out.checks_metadata = name == "aten::_assert_tensor_metadata";
  for (const Node::Input& input : node.inputs)
    if (!schema.argumentIndexWithName(input.name)) return refuse(node, "the schema has no argument " + input.name);
  for (const c10::Argument& parameter : schema.arguments()) {
    const Node::Input* given = nullptr;
    for (const Node::Input& input : node.inputs)
      if (input.name == parameter.name()) given = &input;
    if (given) {
      auto bound = bind_argument(given->value, parameter, slot_of_);
      if (!bound) return refuse(node, "argument " + parameter.name() + ": " + bound.error());
      out.arguments.push_back(std::move(*bound));
    } else if (parameter.default_value()) {
      Operand operand;
      operand.constant = *parameter.default_value();
      out.arguments.push_back(std::move(operand));
    } else {
      return refuse(node, "argument " + parameter.name() + " is missing and has no default");
    }
  }
  find_written(schema, out);
  out.info.mutates = !out.written.empty();
  return true;
}

void GraphCompiler::find_written(const c10::FunctionSchema& schema, Instruction& out) const {
  bool training = false;
  for (std::string_view flag : kTrainingFlags)
    if (const auto index = schema.argumentIndexWithName(flag)) {
      const Operand& operand = out.arguments[*index];
      training = operand.kind != Operand::Kind::kConstant || !operand.constant.isBool() || operand.constant.toBool();
    }
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& parameter = schema.arguments()[i];
    bool writes = parameter.alias_info() && parameter.alias_info()->isWrite();
    for (std::string_view name : kRunningStatistics) writes = writes || (training && parameter.name() == name);
    if (writes) out.written.push_back(static_cast<int>(i));
  }
}

bool GraphCompiler::compile_number_function(const Node& node, Instruction& out) {
  out.number_function = find_number_function(node.target);
  if (!out.number_function) return refuse(node, "no such function on numbers");
  for (const Node::Input& input : node.inputs) {
    auto bound = bind_free(input.value, slot_of_);
    if (!bound) return refuse(node, bound.error());
    out.arguments.push_back(std::move(*bound));
  }
  return true;
}

bool GraphCompiler::compile_higher_order(const Node& node, std::string_view name, Instruction& out) {
  out.higher_order = find_higher_order_op(name);
  if (!out.higher_order) return refuse(node, "this higher-order op is not supported");
  for (const Node::Input& input : node.inputs) {
    Operand operand;
    std::shared_ptr<Block> block;
    if (input.value.kind == Argument::Kind::kGraph && input.value.graph) {
      GraphCompiler nested(next_id_, unsupported_);
      block = nested.compile(*input.value.graph);
    } else {
      auto bound = bind_free(input.value, slot_of_);
      if (!bound) return refuse(node, bound.error());
      operand = std::move(*bound);
    }
    out.arguments.push_back(std::move(operand));
    out.keywords.push_back(input.keyword ? input.name : "");
    out.blocks.push_back(std::move(block));
  }
  return true;
}

bool GraphCompiler::compile_node(const Node& node, Instruction& out) {
  const std::string_view target = node.target;
  out.info.id = (*next_id_)++;
  out.info.node = node.name;
  out.info.target = target.starts_with(kOpsPrefix) ? target.substr(kOpsPrefix.size()) : target;
  bool ok = false;
  if (target.starts_with(kHigherOrderPrefix)) {
    ok = compile_higher_order(node, target.substr(kHigherOrderPrefix.size()), out);
  } else if (target.starts_with(kOpsPrefix)) {
    ok = compile_op(node, target.substr(kOpsPrefix.size()), out);
  } else {
    ok = compile_number_function(node, out);
  }
  // Results are defined even when the node is refused, so that its users are not refused for that.
  for (const Argument& output : node.outputs) out.results.push_back(place_of(output));
  return ok;
}

void collect_slots(const Operand& operand, std::set<int>& out) {
  if (operand.kind == Operand::Kind::kSlot) out.insert(operand.slot);
  for (const Operand& item : operand.items) collect_slots(item, out);
}

/// Marks, for each slot, the instruction after which nobody reads it any more.
void find_last_uses(Block& block) {
  std::set<int> live;
  for (const Operand& output : block.outputs) collect_slots(output, live);
  for (auto it = block.code.rbegin(); it != block.code.rend(); ++it) {
    std::set<int> touched;
    for (const Operand& argument : it->arguments) collect_slots(argument, touched);
    for (const ResultPlace& place : it->results) {
      if (place.slot >= 0) touched.insert(place.slot);
      for (int item : place.items)
        if (item >= 0) touched.insert(item);
    }
    for (int slot : touched)
      if (live.insert(slot).second) it->frees.push_back(slot);
  }
}

/// A list of constants is one constant: made once, not per run.
void fold_constant_list(Operand& operand) {
  for (Operand& item : operand.items) fold_constant_list(item);
  if (operand.kind != Operand::Kind::kList) return;
  for (const Operand& item : operand.items)
    if (item.kind != Operand::Kind::kConstant) return;
  if (operand.list_type == ListType::kInt) {
    std::vector<int64_t> values;
    for (const Operand& item : operand.items) values.push_back(item.constant.toInt());
    operand.constant = c10::IValue(values);
  } else if (operand.list_type == ListType::kFloat) {
    std::vector<double> values;
    for (const Operand& item : operand.items) values.push_back(item.constant.toDouble());
    operand.constant = c10::IValue(values);
  } else {
    return;
  }
  operand.kind = Operand::Kind::kConstant;
  operand.items.clear();
}

std::shared_ptr<Block> GraphCompiler::compile(const Graph& graph) {
  auto block = std::make_shared<Block>();
  for (const Argument& input : graph.inputs) block->inputs.push_back(define(input.name));
  for (const Node& node : graph.nodes) {
    Instruction instruction;
    if (compile_node(node, instruction)) block->code.push_back(std::move(instruction));
  }
  for (const Argument& output : graph.outputs) {
    auto bound = bind_free(output, slot_of_);
    if (!bound) {
      unsupported_->push_back("graph output: " + bound.error());
      continue;
    }
    block->outputs.push_back(std::move(*bound));
  }
  block->slots = count_;
  for (Instruction& instruction : block->code)
    for (Operand& argument : instruction.arguments)
      if (instruction.op) fold_constant_list(argument);
  find_last_uses(*block);
  return block;
}

}  // namespace

CompiledGraph compile_graph(const Graph& graph) {
  CompiledGraph compiled;
  GraphCompiler compiler(&compiled.ids, &compiled.unsupported);
  compiled.block = compiler.compile(graph);
  compiled.slots = compiler.take_slots();
  return compiled;
}

}  // namespace aotifuzz
