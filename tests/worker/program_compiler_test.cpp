#include "worker/program_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/graph_builder.h"

namespace aotifuzz {
namespace {

using test::GraphBuilder;
using test::none;
using test::number;
using test::tensor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ProgramCompiler, FillsDefaultsInSchemaOrder) {
  const auto compiled = compile_graph(
      GraphBuilder().input("x").op("add.Tensor", {{"other", number(2)}, {"self", tensor("x")}}, "y").output("y").graph);
  ASSERT_THAT(compiled.unsupported, IsEmpty());
  const Instruction& add = compiled.block->code.at(0);
  ASSERT_EQ(add.arguments.size(), 3u);
  EXPECT_EQ(add.arguments[0].kind, Operand::Kind::kSlot);
  ASSERT_TRUE(add.arguments[1].constant.isTensor());
  EXPECT_TRUE(add.arguments[1].constant.toTensor().unsafeGetTensorImpl()->is_wrapped_number());
  EXPECT_EQ(add.arguments[2].constant.toInt(), 1) << "alpha";
  EXPECT_EQ(add.info.target, "aten.add.Tensor");
  EXPECT_FALSE(add.info.mutates);
}

TEST(ProgramCompiler, NamesEveryNodeThatCannotRun) {
  const auto compiled = compile_graph(GraphBuilder()
                                          .input("x")
                                          .node("torch.ops.nowhere.f.default", {{"x", tensor("x")}}, {tensor("a")})
                                          .node("torch.ops.higher_order.unheard_of", {{"", tensor("a")}}, {tensor("b")})
                                          .node("_operator.matmul", {{"a", tensor("b")}}, {tensor("c")})
                                          .op("add.Tensor", {{"self", tensor("c")}, {"otter", number(1)}}, "d")
                                          .op("add.Tensor", {{"self", tensor("c")}}, "e")
                                          .op("relu.default", {{"self", tensor("missing")}}, "f")
                                          .output("e")
                                          .graph);
  EXPECT_THAT(compiled.unsupported,
              ElementsAre(HasSubstr("node a: torch.ops.nowhere.f.default: no such operator"), HasSubstr("unheard_of"),
                          HasSubstr("_operator.matmul"), HasSubstr("no argument otter"),
                          HasSubstr("argument other is missing"), HasSubstr("no value named missing")));
}

TEST(ProgramCompiler, NodesOfSubGraphsAreNamedToo) {
  const Graph bad = GraphBuilder()
                        .input("a")
                        .node("torch.ops.nowhere.g.default", {{"x", tensor("a")}}, {tensor("b")})
                        .output("b")
                        .graph;
  const auto compiled = compile_graph(GraphBuilder()
                                          .input("p")
                                          .node("torch.ops.higher_order.cond",
                                                {{"", tensor("p")},
                                                 {"", test::sub_graph(bad)},
                                                 {"", test::sub_graph(bad)},
                                                 {"", test::list({tensor("p")})}},
                                                {tensor("r")})
                                          .output("r")
                                          .graph);
  EXPECT_THAT(compiled.unsupported, ElementsAre(HasSubstr("nowhere"), HasSubstr("nowhere")));
  EXPECT_EQ(compiled.ids, 3);
}

TEST(ProgramCompiler, ValuesAreFreedAfterTheirLastUseAndOutputsAreKept) {
  const auto compiled = compile_graph(GraphBuilder()
                                          .input("x")
                                          .op("relu.default", {{"self", tensor("x")}}, "a")
                                          .op("neg.default", {{"self", tensor("a")}}, "b")
                                          .op("abs.default", {{"self", tensor("a")}}, "unused")
                                          .output("b")
                                          .graph);
  const auto slot = [&](const char* name) { return compiled.slots.at(name); };
  EXPECT_THAT(compiled.block->code[0].frees, ElementsAre(slot("x")));
  EXPECT_THAT(compiled.block->code[1].frees, IsEmpty());
  EXPECT_THAT(compiled.block->code[2].frees, ::testing::UnorderedElementsAre(slot("a"), slot("unused")));
}

TEST(ProgramCompiler, KnowsWhichArgumentsAnOpWrites) {
  const auto norm = [](bool training) {
    return compile_graph(GraphBuilder()
                             .input("x")
                             .input("m")
                             .input("v")
                             .op("batch_norm.default",
                                 {{"input", tensor("x")},
                                  {"weight", none()},
                                  {"bias", none()},
                                  {"running_mean", tensor("m")},
                                  {"running_var", tensor("v")},
                                  {"training", test::truth(training)},
                                  {"momentum", number(0.1)},
                                  {"eps", number(1e-5)},
                                  {"cudnn_enabled", test::truth(false)}},
                                 "y")
                             .output("y")
                             .graph);
  };
  EXPECT_THAT(norm(true).block->code.at(0).written, ElementsAre(3, 4)) << "the schema does not say so";
  EXPECT_THAT(norm(false).block->code.at(0).written, IsEmpty());
  const auto in_place = compile_graph(GraphBuilder()
                                          .input("x")
                                          .op("mul_.Scalar", {{"self", tensor("x")}, {"other", number(2)}}, "y")
                                          .output("y")
                                          .graph);
  EXPECT_THAT(in_place.block->code.at(0).written, ElementsAre(0));
  EXPECT_TRUE(in_place.block->code.at(0).info.mutates);
}

}  // namespace
}  // namespace aotifuzz
