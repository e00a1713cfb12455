#include "oracles/program_facts_builder.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "oracles/float_format.h"
#include "oracles/op_schema.h"
#include "oracles/op_traits.h"
#include "oracles/rounding_model.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

using Kind = Argument::Kind;

/// Rounding units for what a higher-order op may do inside.
constexpr double kSubgraphUnits = 64;

bool is_value(const Argument& argument) {
  return argument.kind == Kind::kTensor || argument.kind == Kind::kSymInt || argument.kind == Kind::kSymFloat ||
         argument.kind == Kind::kSymBool;
}

void collect_names(const Argument& argument, std::vector<std::string>& out) {
  if (is_value(argument)) out.push_back(argument.name);
  for (const Argument& item : argument.items) collect_names(item, out);
}

const Argument* find_input(const Node& node, std::string_view name) {
  for (const Node::Input& input : node.inputs)
    if (input.name == name) return &input.value;
  return nullptr;
}

bool is_true(const Node& node, std::string_view name) {
  const Argument* argument = find_input(node, name);
  return argument && argument->kind == Kind::kBool && argument->boolean;
}

bool draws_randomly(const Node& node) {
  const bool training = is_true(node, "train") || is_true(node, "training");
  if (is_random_op(node.target, training)) return true;
  const Argument* dropout = find_input(node, "dropout_p");
  return dropout && dropout->kind == Kind::kFloat && dropout->real > 0;
}

class Builder {
 public:
  ProgramFacts build(const Program& program) {
    for (const GraphInput& input : program.inputs)
      if (input.kind == GraphInput::Kind::kUser) users_.insert(input.name);
    walk(program.graph);
    for (const GraphOutput& output : program.outputs) {
      if (output.kind == GraphOutput::Kind::kUserInputMutation) mutated_.insert(output.target);
      if (output.kind != GraphOutput::Kind::kUser && output.kind != GraphOutput::Kind::kLoss) continue;
      add_outputs(output.value);
    }
    facts_.mutated_inputs.assign(mutated_.begin(), mutated_.end());
    facts_.ops.assign(ops_.begin(), ops_.end());
    facts_.unknown_ops.assign(unknown_.begin(), unknown_.end());
    return std::move(facts_);
  }

 private:
  /// OutputFacts of every graph value, and the value whose memory it shares.
  struct Value {
    OutputFacts facts;
    std::string root;
  };

  Value& value(const std::string& name) {
    auto [found, fresh] = values_.try_emplace(name);
    if (fresh) found->second.root = found->second.facts.node = name;
    return found->second;
  }

  void add_outputs(const Argument& argument) {
    if (argument.kind == Kind::kList || argument.kind == Kind::kDict) {
      for (const Argument& item : argument.items) add_outputs(item);
      return;
    }
    OutputFacts facts;
    if (is_value(argument)) facts = value(argument.name).facts;
    facts.node = argument.name;
    if (!facts.arg_op.empty() &&
        std::find(facts_.watched.begin(), facts_.watched.end(), facts.arg_operand) == facts_.watched.end())
      facts_.watched.push_back(facts.arg_operand);
    facts_.outputs.push_back(std::move(facts));
  }

  void walk(const Graph& graph) {
    for (const Node& node : graph.nodes) visit(graph, node);
  }

  void visit(const Graph& graph, const Node& node) {
    const std::string target(short_target(node.target));
    ops_.insert(target);
    record_dtypes(graph, node);
    if (is_uninitialized_op(target)) facts_.has_uninitialized = true;

    OutputFacts merged;
    merged.op = target;
    std::vector<std::string> operands;
    for (const Node::Input& input : node.inputs) collect_names(input.value, operands);
    for (const std::string& name : operands) {
      const OutputFacts& from = value(name).facts;
      if (merged.random_op.empty()) merged.random_op = from.random_op;
      merged.elementwise_only &= from.elementwise_only;
      merged.rounding_budget = std::max(merged.rounding_budget, from.rounding_budget);
    }
    if (draws_randomly(node) && merged.random_op.empty()) merged.random_op = target;
    visit_subgraphs(node, merged);
    add_rounding(graph, node, target, merged);

    std::vector<std::string> results;
    for (const Argument& output : node.outputs) collect_names(output, results);
    for (size_t i = 0; i < results.size(); ++i) {
      Value& result = value(results[i]);
      result.facts = merged;
      result.facts.node = results[i];
      result.facts.op_result = static_cast<int>(i);
      result.root = results[i];
      if (!operands.empty() && is_view_op(target) && same_dtype(graph, operands[0], results[i]))
        result.root = value(operands[0]).root;
      if (!operands.empty() && keeps_values_in_order(target)) pass_position(operands[0], result.facts);
      if (!operands.empty() && is_view_op(target) && !value(operands[0]).facts.op.empty()) {
        result.facts.op = value(operands[0]).facts.op;
        result.facts.op_result = value(operands[0]).facts.op_result;
      }
    }
    note_position(node, target, results);
    note_writes(node, target, merged);
  }

  /// A view or cast of positions is still judged as positions.
  void pass_position(const std::string& operand, OutputFacts& facts) {
    const OutputFacts& from = value(operand).facts;
    facts.arg_op = from.arg_op;
    facts.arg_node = from.arg_node;
    facts.arg_dim = from.arg_dim;
    facts.arg_flat = from.arg_flat;
    facts.arg_stable = from.arg_stable;
    facts.arg_operand = from.arg_operand;
  }

  void note_position(const Node& node, const std::string& target, const std::vector<std::string>& results) {
    const std::optional<ArgReduction> info = arg_reduction(target);
    if (!info || static_cast<size_t>(info->index_result) >= results.size()) return;
    const Argument* operand = find_input(node, "self");
    if (!operand || operand->kind != Kind::kTensor) return;
    OutputFacts& facts = value(results[info->index_result]).facts;
    const Argument* dim = find_input(node, "dim");
    if (dim && dim->kind != Kind::kInt && dim->kind != Kind::kNone) return;
    const bool given = dim && dim->kind == Kind::kInt;
    facts.arg_flat = !given && info->whole_if_no_dim;
    facts.arg_dim = given ? dim->integer : info->default_dim;
    facts.arg_op = target;
    facts.arg_node = node.name;
    facts.arg_operand = operand->name;
    facts.arg_stable = find_input(node, "stable") ? is_true(node, "stable") : false;
  }

  void visit_subgraphs(const Node& node, OutputFacts& merged) {
    for (const Node::Input& input : node.inputs) {
      if (input.value.kind != Kind::kGraph || !input.value.graph) continue;
      merged.elementwise_only = false;
      merged.rounding_budget += kSubgraphUnits;
      walk(*input.value.graph);
      for (const Node& inner : input.value.graph->nodes)
        if (merged.random_op.empty() && draws_randomly(inner)) merged.random_op = short_target(inner.target);
    }
  }

  void add_rounding(const Graph& graph, const Node& node, const std::string& target, OutputFacts& merged) {
    // Number functions ("_operator.mul", "torch.sym_float") and higher-order ops have no row.
    if (!find_op_schema(target)) {
      if (target.find("higher_order.") == std::string::npos && target.starts_with("aten.")) unknown_.insert(target);
      if (target == "_operator.truediv" || target == "_operator.pow" || target.starts_with("torch.sym_"))
        merged.rounding_budget += 2;
      return;
    }
    bool known = true;
    const RoundingRow& row = rounding_row(target, &known);
    if (!known) unknown_.insert(target);
    const Dtype result = result_dtype(graph, node);
    const bool floating = dtype_is_floating(result) || dtype_is_complex(result);
    if (row.cls != RoundingClass::kExact && floating) merged.rounding_budget += nominal_units(row);
    if (row.growth != Growth::kNone || row.length != Length::kOne) merged.elementwise_only = false;
  }

  static Dtype result_dtype(const Graph& graph, const Node& node) {
    std::vector<std::string> names;
    for (const Argument& output : node.outputs) collect_names(output, names);
    for (const std::string& name : names)
      if (const auto meta = graph.tensors.find(name); meta != graph.tensors.end()) return meta->second.dtype;
    return Dtype::kUnknown;
  }

  static bool same_dtype(const Graph& graph, const std::string& a, const std::string& b) {
    const auto x = graph.tensors.find(a), y = graph.tensors.find(b);
    return x != graph.tensors.end() && y != graph.tensors.end() && x->second.dtype == y->second.dtype;
  }

  /// What is written takes the facts of the write, through every value that shares the memory.
  void note_writes(const Node& node, const std::string& target, const OutputFacts& merged) {
    std::vector<std::string> written;
    const c10::FunctionSchema* schema = find_op_schema(target);
    if (schema) {
      for (const c10::Argument& argument : schema->arguments()) {
        if (!argument.alias_info() || !argument.alias_info()->isWrite()) continue;
        if (const Argument* given = find_input(node, argument.name())) collect_names(*given, written);
      }
    } else if (is_in_place_name(target) && !node.inputs.empty()) {
      collect_names(node.inputs[0].value, written);
    }
    for (const std::string& name : written) {
      const std::string root = value(name).root;
      if (users_.count(root)) mutated_.insert(root);
      for (auto& [other, state] : values_) {
        if (state.root != root) continue;
        if (state.facts.random_op.empty()) state.facts.random_op = merged.random_op;
        state.facts.elementwise_only &= merged.elementwise_only;
        state.facts.rounding_budget = std::max(state.facts.rounding_budget, merged.rounding_budget);
        state.facts.arg_op.clear();
        if (state.facts.op.empty()) state.facts.op = merged.op;
      }
      // The result of the in-place op is the same memory.
      for (const Argument& output : node.outputs)
        if (output.kind == Kind::kTensor) value(output.name).root = root;
    }
  }

  void record_dtypes(const Graph& graph, const Node& node) {
    NodeDtypes dtypes;
    const auto add = [&](const Argument& argument, std::vector<Dtype>& out, auto&& self) -> void {
      if (argument.kind == Kind::kTensor) {
        const auto meta = graph.tensors.find(argument.name);
        out.push_back(meta == graph.tensors.end() ? Dtype::kUnknown : meta->second.dtype);
      } else if (argument.kind == Kind::kList) {
        for (const Argument& item : argument.items) self(item, out, self);
      } else if (argument.kind == Kind::kNone) {
        out.push_back(Dtype::kUnknown);  // keeps the count of items in lists of optionals
      }
    };
    for (const Argument& output : node.outputs) add(output, dtypes.results, add);
    for (const Node::Input& input : node.inputs) add(input.value, dtypes.arguments[input.name], add);
    const auto [found, fresh] = facts_.dtypes.try_emplace(node.name, dtypes);
    if (fresh) return;
    // Sub-graphs reuse names: the coarser type is the safe one.
    for (size_t i = 0; i < found->second.results.size() && i < dtypes.results.size(); ++i) {
      const int precision = float_format(dtypes.results[i]).precision;
      if (precision && precision < float_format(found->second.results[i]).precision)
        found->second.results[i] = dtypes.results[i];
    }
  }

  ProgramFacts facts_;
  std::map<std::string, Value> values_;
  std::set<std::string> users_, mutated_, ops_, unknown_;
};

}  // namespace

ProgramFacts build_program_facts(const Program& program) { return Builder().build(program); }

}  // namespace aotifuzz
