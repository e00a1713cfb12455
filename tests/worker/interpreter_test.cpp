#include "worker/interpreter.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/graph_builder.h"
#include "worker/program_compiler.h"

namespace aotifuzz {
namespace {

using test::GraphBuilder;
using test::number;
using test::sym_int;
using test::tensor;

std::vector<c10::IValue> run(const GraphBuilder& builder, std::vector<c10::IValue> inputs,
                             Interpreter::Hooks hooks = {}) {
  const CompiledGraph compiled = compile_graph(builder.graph);
  EXPECT_THAT(compiled.unsupported, ::testing::IsEmpty());
  return Interpreter(std::move(hooks)).run(*compiled.block, std::move(inputs));
}

TEST(Interpreter, NumbersWhereTensorsAreWantedPromoteAsInPython) {
  GraphBuilder g;
  g.input("x").op("add.Tensor", {{"self", tensor("x")}, {"other", number(1.5)}}, "y").output("y");
  EXPECT_EQ(run(g, {at::ones({2}, at::kHalf)})[0].toTensor().scalar_type(), at::kHalf)
      << "a plain f64 tensor would win";
}

TEST(Interpreter, SizesFlowThroughNumbersIntoLists) {
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.aten.sym_size.int", {{"self", tensor("x")}, {"dim", number(0)}}, {sym_int("n")})
      .node("_operator.floordiv", {{"a", sym_int("n")}, {"b", number(2)}}, {sym_int("h")})
      .op("view.default", {{"self", tensor("x")}, {"size", test::list({sym_int("h"), number(2)})}}, "y")
      .op("mul.Tensor", {{"self", tensor("y")}, {"other", sym_int("n")}}, "z")
      .output("z")
      .output(sym_int("h"));
  const auto out = run(g, {at::ones({6})});
  EXPECT_TRUE(out[0].toTensor().equal(at::full({3, 2}, 6.0f)));
  EXPECT_EQ(out[1].toInt(), 3);
}

TEST(Interpreter, ListResultsAndListArgumentsWork) {
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.aten.split.Tensor", {{"self", tensor("x")}, {"split_size", number(2)}},
            {test::list({tensor("a"), tensor("b")})})
      .op("cat.default", {{"tensors", test::list({tensor("b"), tensor("a")})}}, "y")
      .op("index.Tensor", {{"self", tensor("y")}, {"indices", test::list({tensor("b")})}}, "z")
      .output("y")
      .output("z");
  const auto out = run(g, {at::arange(4)});
  EXPECT_TRUE(out[0].toTensor().equal(at::tensor({2, 3, 0, 1})));
  EXPECT_TRUE(out[1].toTensor().equal(at::tensor({0, 1})));
}

TEST(Interpreter, FewerListResultsThanTheProgramUsesIsAnError) {
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.aten.split.Tensor", {{"self", tensor("x")}, {"split_size", number(2)}},
            {test::list({tensor("a"), tensor("b"), tensor("c")})})
      .output("c");
  EXPECT_THROW(run(g, {at::arange(4)}), std::runtime_error);
}

TEST(Interpreter, AbsentOptionalIndicesAndDtypesAreUnderstood) {
  GraphBuilder g;
  g.input("x")
      .input("i")
      .op("index.Tensor", {{"self", tensor("x")}, {"indices", test::list({test::none(), tensor("i")})}}, "y")
      .op("to.dtype", {{"self", tensor("y")}, {"dtype", test::dtype(Dtype::kBF16)}}, "z")
      .output("z");
  const at::Tensor x = at::arange(6, at::kFloat).reshape({2, 3});
  EXPECT_TRUE(run(g, {x, at::tensor({2})})[0].toTensor().equal(x.slice(1, 2, 3).to(at::kBFloat16)));
}

TEST(Interpreter, AssertionsOfTheProgramThrow) {
  GraphBuilder g;
  g.input("x")
      .node("torch.ops.aten.item.default", {{"self", tensor("x")}}, {sym_int("u0")})
      .node("_operator.ge", {{"a", sym_int("u0")}, {"b", number(0)}}, {sym_int("ok")})
      .node("torch.ops.aten._assert_scalar.default",
            {{"self", sym_int("ok")}, {"assert_msg", test::text("u0 >= 0 fails")}}, {})
      .output("x");
  EXPECT_NO_THROW(run(g, {at::tensor({3})}));
  EXPECT_THROW(run(g, {at::tensor({-3})}), c10::Error);
}

class Recording final : public NodeHook {
 public:
  void before(const OpInfo& op, torch::jit::Stack& arguments) override {
    seen.push_back(op.target + "/" + std::to_string(arguments.size()));
    if (op.target == "aten.mul.Tensor") arguments[1] = at::scalar_tensor(10.0);
  }
  void after(const OpInfo& op, torch::jit::Stack& results) override {
    if (op.target == "aten.neg.default") results[0] = at::zeros({1});
  }
  std::vector<std::string> seen;
};

TEST(Interpreter, HooksSeeEachOpAndMayReplaceArgumentsAndResults) {
  GraphBuilder g;
  g.input("x")
      .op("mul.Tensor", {{"self", tensor("x")}, {"other", number(2)}}, "y")
      .node("torch.ops.aten._assert_tensor_metadata.default", {{"a", tensor("y")}, {"dtype", test::dtype(Dtype::kF32)}},
            {})
      .op("neg.default", {{"self", tensor("y")}}, "z")
      .output("y")
      .output("z");
  Recording hook;
  Interpreter::Hooks hooks;
  hooks.node_hook = &hook;
  const auto out = run(g, {at::ones({1}, at::kDouble)}, std::move(hooks));
  EXPECT_THAT(hook.seen, ::testing::ElementsAre("aten.mul.Tensor/2", "aten.neg.default/1"));
  EXPECT_EQ(out[0].toTensor().item<double>(), 10);
  EXPECT_EQ(out[1].toTensor().item<double>(), 0);
}

TEST(Interpreter, TheRecorderNamesTheOpThatThrew) {
  GraphBuilder g;
  g.input("x")
      .op("relu.default", {{"self", tensor("x")}}, "y")
      .op("view.default", {{"self", tensor("y")}, {"size", test::list({number(7)})}}, "z")
      .output("z");
  FlightRecorder recorder;
  Interpreter::Hooks hooks;
  hooks.recorder = &recorder;
  EXPECT_ANY_THROW(run(g, {at::ones({3})}, std::move(hooks)));
  EXPECT_STREQ(recorder.step, "aten.view.default");
}

}  // namespace
}  // namespace aotifuzz
