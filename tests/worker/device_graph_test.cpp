#include "worker/device_graph.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace aotifuzz {
namespace {

Argument device_argument(const std::string& name) {
  Argument argument;
  argument.kind = Argument::Kind::kDevice;
  argument.name = name;
  return argument;
}

Graph graph_with(std::vector<Argument> arguments, const std::string& target = "torch.ops.aten.arange.default") {
  Graph graph;
  Node node;
  node.target = target;
  for (Argument& argument : arguments) node.inputs.push_back({"", std::move(argument), false});
  graph.nodes.push_back(std::move(node));
  return graph;
}

TEST(DeviceGraph, CudaMovesAndTheCpuStays) {
  const Graph graph = graph_with({device_argument("cuda:0"), device_argument("cpu"), device_argument("cuda")});
  const Graph moved = graph_on(graph, c10::Device(c10::kCUDA, 1));
  EXPECT_EQ(moved.nodes[0].inputs[0].value.name, "cuda:1");
  EXPECT_EQ(moved.nodes[0].inputs[1].value.name, "cpu");
  EXPECT_EQ(moved.nodes[0].inputs[2].value.name, "cuda:1");
  EXPECT_EQ(graph_on(graph, c10::kCPU).nodes[0].inputs[0].value.name, "cpu");
}

TEST(DeviceGraph, ListsAndSubGraphsAreReachedAndTheOriginalIsLeftAlone) {
  Argument list;
  list.kind = Argument::Kind::kList;
  list.items = {device_argument("cuda:0")};
  Argument inner;
  inner.kind = Argument::Kind::kGraph;
  inner.graph = std::make_shared<Graph>(graph_with({device_argument("cuda:0")}));
  const Graph graph = graph_with({list, inner});
  const Graph moved = graph_on(graph, c10::kCPU);
  EXPECT_EQ(moved.nodes[0].inputs[0].value.items[0].name, "cpu");
  EXPECT_EQ(moved.nodes[0].inputs[1].value.graph->nodes[0].inputs[0].value.name, "cpu");
  EXPECT_EQ(graph.nodes[0].inputs[1].value.graph->nodes[0].inputs[0].value.name, "cuda:0");
}

TEST(DeviceGraph, AutocastNamesItsDeviceAsText) {
  Argument text;
  text.kind = Argument::Kind::kString;
  text.name = "cuda";
  const Graph cast = graph_with({text}, "torch.ops.higher_order.wrap_with_autocast");
  EXPECT_EQ(graph_on(cast, c10::kCPU).nodes[0].inputs[0].value.name, "cpu");
  EXPECT_EQ(graph_on(graph_with({text}), c10::kCPU).nodes[0].inputs[0].value.name, "cuda") << "text elsewhere is text";
}

TEST(DeviceGraph, ValuesArePlacedWhereTheExportHadThem) {
  EXPECT_EQ(placed("cuda:0", c10::Device(c10::kCUDA, 2)), c10::Device(c10::kCUDA, 2));
  EXPECT_EQ(placed("cpu", c10::Device(c10::kCUDA, 2)), c10::Device(c10::kCPU));
  EXPECT_EQ(placed("cuda:0", c10::kCPU), c10::Device(c10::kCPU));
}

TEST(DeviceGraph, ACasePlacesItsInputs) {
  const c10::Device gpu(c10::kCUDA, 1), cpu(c10::kCPU);
  Case c;
  c.inputs.resize(3);
  c.inputs[1].place = CasePlace::kHost;
  c.inputs[2].surplus = true;
  EXPECT_EQ(input_devices(c, {gpu, gpu}, gpu), (std::vector<c10::Device>{gpu, cpu, gpu}));
  c.inputs[0].place = CasePlace::kDevice;
  EXPECT_EQ(input_devices(c, {cpu, cpu}, gpu), (std::vector<c10::Device>{gpu, cpu, gpu}));
  EXPECT_THROW(require_on_host(c), std::invalid_argument);
  c.inputs[0].place = CasePlace::kHost;
  EXPECT_NO_THROW(require_on_host(c));
}

}  // namespace
}  // namespace aotifuzz
