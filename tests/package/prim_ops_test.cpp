#include "package/prim_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aotifuzz {
namespace {

using ::testing::ElementsAre;

Argument tensor(const std::string& name) {
  Argument out;
  out.kind = Argument::Kind::kTensor;
  out.name = name;
  return out;
}
Argument integer(int64_t value) {
  Argument out;
  out.kind = Argument::Kind::kInt;
  out.integer = value;
  return out;
}
Argument integers(std::vector<int64_t> values) {
  Argument out;
  out.kind = Argument::Kind::kList;
  for (int64_t value : values) out.items.push_back(integer(value));
  return out;
}

Graph graph_of(const std::string& prim, std::vector<Node::Input> inputs,
               std::vector<Argument> outputs = {tensor("y")}) {
  Graph graph;
  Node node;
  node.name = "y";
  node.target = "torch.ops.prims." + prim;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  graph.nodes.push_back(std::move(node));
  return graph;
}

std::vector<std::string> names(const Node& node) {
  std::vector<std::string> out;
  for (const Node::Input& input : node.inputs) out.push_back(input.name);
  return out;
}

TEST(PrimOps, ACastBecomesATensCast) {
  Graph graph = graph_of("convert_element_type.default", {{"a", tensor("x")}, {"dtype", integer(7)}});
  replace_prims(graph);
  EXPECT_EQ(graph.nodes[0].target, "torch.ops.aten._to_copy.default");
  EXPECT_THAT(names(graph.nodes[0]), ElementsAre("self", "dtype"));
}

TEST(PrimOps, CountingBecomesARange) {
  Graph graph = graph_of("iota.default", {{"length", tensor("s")}, {"start", integer(0)}, {"step", integer(1)}});
  replace_prims(graph);
  EXPECT_EQ(graph.nodes[0].target, "torch.ops.aten.arange.default");
  EXPECT_THAT(names(graph.nodes[0]), ElementsAre("end"));

  graph = graph_of("iota.default", {{"length", integer(4)}, {"start", integer(1)}, {"step", integer(3)}});
  replace_prims(graph);
  EXPECT_EQ(graph.nodes[0].target, "torch.ops.aten.arange.start_step");
  EXPECT_THAT(names(graph.nodes[0]), ElementsAre("start", "end", "step"));
  EXPECT_EQ(graph.nodes[0].inputs[1].value.integer, 13);
}

TEST(PrimOps, WhatNoAtenOpDoesStays) {
  Graph graph = graph_of("inductor_random.default", {{"size", integers({4})}});
  replace_prims(graph);
  EXPECT_EQ(graph.nodes[0].target, "torch.ops.prims.inductor_random.default");
  // A length that is only known at run time, from 1 on.
  graph = graph_of("iota.default", {{"length", tensor("s")}, {"start", integer(1)}, {"step", integer(1)}});
  replace_prims(graph);
  EXPECT_EQ(graph.nodes[0].target, "torch.ops.prims.iota.default");
  // An argument that the row does not know.
  graph = graph_of("view_of.default", {{"a", tensor("x")}, {"axes", integers({0})}});
  replace_prims(graph);
  EXPECT_EQ(graph.nodes[0].target, "torch.ops.prims.view_of.default");
}

}  // namespace
}  // namespace aotifuzz
