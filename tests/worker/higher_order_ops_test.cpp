#include "worker/higher_order_ops.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/graph_builder.h"
#include "worker/interpreter.h"
#include "worker/program_compiler.h"

namespace aotifuzz {
namespace {

using test::GraphBuilder;
using test::list;
using test::number;
using test::sub_graph;
using test::tensor;

std::vector<c10::IValue> run(const GraphBuilder& builder, std::vector<c10::IValue> inputs) {
  const CompiledGraph compiled = compile_graph(builder.graph);
  EXPECT_THAT(compiled.unsupported, ::testing::IsEmpty());
  return Interpreter({}).run(*compiled.block, std::move(inputs));
}

/// x -> f(x, value)
Graph with_number(const std::string& op, int value) {
  return GraphBuilder().input("a").op(op, {{"self", tensor("a")}, {"other", number(value)}}, "r").output("r").graph;
}

TEST(HigherOrderOps, CondRunsTheBranchThatThePredicateChooses) {
  GraphBuilder g;
  g.input("p")
      .input("x")
      .node("torch.ops.higher_order.cond",
            {{"", tensor("p")},
             {"", sub_graph(with_number("add.Tensor", 1))},
             {"", sub_graph(with_number("mul.Tensor", 5))},
             {"", list({tensor("x")})}},
            {tensor("r")})
      .output("r");
  EXPECT_EQ(run(g, {at::scalar_tensor(true, at::kBool), at::ones({1})})[0].toTensor().item<float>(), 2);
  EXPECT_EQ(run(g, {at::scalar_tensor(false, at::kBool), at::ones({1})})[0].toTensor().item<float>(), 5);
}

GraphBuilder counting_loop() {
  const Graph condition = GraphBuilder()
                              .input("i")
                              .input("x")
                              .input("n")
                              .op("lt.Tensor", {{"self", tensor("i")}, {"other", tensor("n")}}, "c")
                              .output("c")
                              .graph;
  const Graph body = GraphBuilder()
                         .input("i")
                         .input("x")
                         .input("n")
                         .op("add.Tensor", {{"self", tensor("i")}, {"other", number(1)}}, "j")
                         .op("add.Tensor", {{"self", tensor("x")}, {"other", tensor("x")}}, "y")
                         .output("j")
                         .output("y")
                         .graph;
  GraphBuilder g;
  g.input("i")
      .input("x")
      .input("n")
      .node("torch.ops.higher_order.while_loop",
            {{"", sub_graph(condition)},
             {"", sub_graph(body)},
             {"", list({tensor("i"), tensor("x")})},
             {"", list({tensor("n")})}},
            {tensor("j"), tensor("y")})
      .output("j")
      .output("y");
  return g;
}

TEST(HigherOrderOps, WhileLoopCarriesValuesUntilItsConditionFails) {
  const auto out =
      run(counting_loop(), {at::scalar_tensor(0, at::kLong), at::ones({2}), at::scalar_tensor(3, at::kLong)});
  EXPECT_EQ(out[0].toTensor().item<int64_t>(), 3);
  EXPECT_EQ(out[1].toTensor()[0].item<float>(), 8);
}

TEST(HigherOrderOps, AWhileLoopThatNeverRunsGivesClones) {
  const at::Tensor x = at::ones({2});
  const auto out = run(counting_loop(), {at::scalar_tensor(5, at::kLong), x, at::scalar_tensor(3, at::kLong)});
  EXPECT_TRUE(out[1].toTensor().equal(x));
  EXPECT_FALSE(out[1].toTensor().is_alias_of(x));
}

TEST(HigherOrderOps, MapStacksWhatItsGraphMakesOfEachRow) {
  const Graph body = GraphBuilder()
                         .input("row")
                         .input("y")
                         .op("mul.Tensor", {{"self", tensor("row")}, {"other", tensor("y")}}, "r")
                         .output("r")
                         .graph;
  GraphBuilder g;
  g.input("x")
      .input("y")
      .node("torch.ops.higher_order.map_impl",
            {{"", sub_graph(body)}, {"", list({tensor("x")})}, {"", list({tensor("y")})}}, {list({tensor("r")})})
      .output("r");
  const at::Tensor x = at::arange(6, at::kFloat).reshape({3, 2}), y = at::tensor({2.0f, 3.0f});
  EXPECT_TRUE(run(g, {x, y})[0].toTensor().equal(x * y));
  EXPECT_THROW(run(g, {x.slice(0, 0, 0), y}), std::runtime_error);
}

TEST(HigherOrderOps, ScanGivesTheLastCarryAndTheStackedOutputs) {
  const Graph body = GraphBuilder()
                         .input("c")
                         .input("row")
                         .op("add.Tensor", {{"self", tensor("c")}, {"other", tensor("row")}}, "n")
                         .op("neg.default", {{"self", tensor("n")}}, "o")
                         .output("n")
                         .output("o")
                         .graph;
  GraphBuilder g;
  g.input("c")
      .input("x")
      .node("torch.ops.higher_order.scan",
            {{"", sub_graph(body)}, {"", list({tensor("c")})}, {"", list({tensor("x")})}, {"", list({})}},
            {tensor("n"), tensor("o")})
      .output("n")
      .output("o");
  const at::Tensor x = at::arange(4, at::kFloat).reshape({4, 1});
  const auto out = run(g, {at::zeros({1}), x});
  EXPECT_EQ(out[0].toTensor().item<float>(), 6);
  EXPECT_TRUE(out[1].toTensor().equal(-x.cumsum(0)));
}

TEST(HigherOrderOps, AutocastHoldsInsideItsGraphOnly) {
  const Graph body =
      GraphBuilder().input("a").op("mm.default", {{"self", tensor("a")}, {"mat2", tensor("a")}}, "r").output("r").graph;
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.higher_order.wrap_with_autocast",
            {{"", test::text("cpu")},
             {"", test::dtype(Dtype::kBF16)},
             {"", test::truth(true)},
             {"", test::none()},
             {"", sub_graph(body)},
             {"", tensor("x")}},
            {tensor("r")})
      .op("mm.default", {{"self", tensor("x")}, {"mat2", tensor("x")}}, "s")
      .output("r")
      .output("s");
  const auto out = run(g, {at::ones({2, 2})});
  EXPECT_EQ(out[0].toTensor().scalar_type(), at::kBFloat16);
  EXPECT_EQ(out[1].toTensor().scalar_type(), at::kFloat);
}

TEST(HigherOrderOps, SetGradEnabledRunsItsGraph) {
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.higher_order.wrap_with_set_grad_enabled",
            {{"", test::truth(false)}, {"", sub_graph(with_number("add.Tensor", 2))}, {"", tensor("x")}}, {tensor("r")})
      .output("r");
  EXPECT_EQ(run(g, {at::ones({1})})[0].toTensor().item<float>(), 3);
}

TEST(HigherOrderOps, TheTableIsStrict) { EXPECT_EQ(find_higher_order_op("flex_attention"), nullptr); }

}  // namespace
}  // namespace aotifuzz
