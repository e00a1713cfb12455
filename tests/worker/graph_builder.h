#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "package/graph.h"

namespace aotifuzz::test {

/// Arguments and graphs of the export schema, written by hand.
inline Argument tensor(const std::string& name) {
  Argument a;
  a.kind = Argument::Kind::kTensor;
  a.name = name;
  return a;
}
inline Argument sym_int(const std::string& name) {
  Argument a = tensor(name);
  a.kind = Argument::Kind::kSymInt;
  return a;
}
inline Argument number(int64_t value) {
  Argument a;
  a.kind = Argument::Kind::kInt;
  a.integer = value;
  return a;
}
inline Argument number(int value) { return number(int64_t{value}); }
inline Argument number(double value) {
  Argument a;
  a.kind = Argument::Kind::kFloat;
  a.real = value;
  return a;
}
inline Argument truth(bool value) {
  Argument a;
  a.kind = Argument::Kind::kBool;
  a.boolean = value;
  return a;
}
inline Argument text(const std::string& value) {
  Argument a;
  a.kind = Argument::Kind::kString;
  a.name = value;
  return a;
}
inline Argument dtype(Dtype value) {
  Argument a;
  a.kind = Argument::Kind::kScalarType;
  a.integer = static_cast<int64_t>(value);
  return a;
}
inline Argument none() { return {}; }
inline Argument list(std::vector<Argument> items) {
  Argument a;
  a.kind = Argument::Kind::kList;
  a.items = std::move(items);
  return a;
}
inline Argument sub_graph(Graph graph) {
  Argument a;
  a.kind = Argument::Kind::kGraph;
  a.graph = std::make_shared<Graph>(std::move(graph));
  return a;
}

struct GraphBuilder {
  Graph graph;

  using Inputs = std::vector<std::pair<std::string, Argument>>;

  GraphBuilder& input(const std::string& name) {
    graph.inputs.push_back(tensor(name));
    return *this;
  }
  GraphBuilder& node(const std::string& target, const Inputs& inputs, std::vector<Argument> outputs) {
    Node n;
    n.name =
        outputs.empty() || outputs[0].name.empty() ? "node_" + std::to_string(graph.nodes.size()) : outputs[0].name;
    n.target = target;
    for (const auto& [name, value] : inputs) n.inputs.push_back({name, value, false});
    n.outputs = std::move(outputs);
    graph.nodes.push_back(std::move(n));
    return *this;
  }
  /// An ATen op with one tensor result.
  GraphBuilder& op(const std::string& overload, const Inputs& inputs, const std::string& output) {
    return node("torch.ops.aten." + overload, inputs, {tensor(output)});
  }
  GraphBuilder& output(Argument value) {
    graph.outputs.push_back(std::move(value));
    return *this;
  }
  GraphBuilder& output(const std::string& name) { return output(tensor(name)); }
};

/// A program around a graph whose inputs are all user inputs and whose outputs are all user outputs.
inline Program program_of(const Graph& graph) {
  Program program;
  program.model_name = "model";
  program.graph = graph;
  for (const Argument& input : graph.inputs) {
    GraphInput spec;
    spec.name = input.name;
    program.inputs.push_back(spec);
  }
  for (const Argument& output : graph.outputs) {
    GraphOutput spec;
    spec.value = output;
    program.outputs.push_back(spec);
  }
  return program;
}

}  // namespace aotifuzz::test
