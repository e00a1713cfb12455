#include "oracles/program_facts_builder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/tiny_program.h"

namespace aotifuzz {
namespace {

using P = testing::TinyProgram;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

P with_input() {
  P program;
  program.input("x", at::ones({4, 6}));
  return program;
}

TEST(ProgramFacts, ViewsAreSkippedWhenNamingTheOp) {
  P program = with_input();
  const std::string y = program.call1("aten.sin.default", {{"self", P::value("x")}});
  program.output(program.call1("aten.view.default", {{"self", P::value(y)}, {"size", P::numbers({24})}}));
  EXPECT_EQ(program.facts().outputs[0].op, "aten.sin.default");
}

TEST(ProgramFacts, ReductionsAreNotElementwise) {
  P program = with_input();
  program.output(program.call1("aten.mul.Tensor", {{"self", P::value("x")}, {"other", P::value("x")}}));
  const std::string sum = program.call1("aten.sum.dim_IntList", {{"self", P::value("x")}, {"dim", P::numbers({1})}});
  program.output(program.call1("aten.neg.default", {{"self", P::value(sum)}}));
  const ProgramFacts facts = program.facts();
  EXPECT_TRUE(facts.outputs[0].elementwise_only);
  EXPECT_FALSE(facts.outputs[1].elementwise_only);
  EXPECT_GT(facts.outputs[0].rounding_budget, 0);
  EXPECT_GT(facts.outputs[1].rounding_budget, facts.outputs[0].rounding_budget);
}

TEST(ProgramFacts, CopiesHaveNoRoundingBudget) {
  P program = with_input();
  program.output(
      program.call1("aten.transpose.int",
                    {{"self", P::value("x")}, {"dim0", P::number(int64_t{0})}, {"dim1", P::number(int64_t{1})}}));
  EXPECT_EQ(program.facts().outputs[0].rounding_budget, 0);
}

TEST(ProgramFacts, RandomTaintSpreads) {
  P program = with_input();
  const std::string noise = program.call1("aten.rand_like.default", {{"self", P::value("x")}});
  const std::string sum = program.call1("aten.add.Tensor", {{"self", P::value("x")}, {"other", P::value(noise)}});
  program.output(program.call1("aten.sum.default", {{"self", P::value(sum)}}));
  program.output(program.call1("aten.neg.default", {{"self", P::value("x")}}));
  program.output(program.call1("aten.dropout.default",
                               {{"input", P::value("x")}, {"p", P::number(0.5)}, {"train", P::truth(false)}}));
  const ProgramFacts facts = program.facts();
  EXPECT_EQ(facts.outputs[0].random_op, "aten.rand_like.default");
  EXPECT_EQ(facts.outputs[1].random_op, "");
  EXPECT_EQ(facts.outputs[2].random_op, "");
}

TEST(ProgramFacts, RandomTaintFollowsWritesThroughViews) {
  P program = with_input();
  const std::string y = program.call1("aten.clone.default", {{"self", P::value("x")}});
  const std::string row = program.call1(
      "aten.select.int", {{"self", P::value(y)}, {"dim", P::number(int64_t{0})}, {"index", P::number(int64_t{1})}});
  const std::string noise = program.call1("aten.rand_like.default", {{"self", P::value(row)}});
  program.call("aten.add_.Tensor", {{"self", P::value(row)}, {"other", P::value(noise)}});
  program.output(y);
  EXPECT_EQ(program.facts().outputs[0].random_op, "aten.rand_like.default");
}

TEST(ProgramFacts, PositionsKeepTheirOperandThroughCastsAndReshapes) {
  P program = with_input();
  const std::string y = program.call1("aten.sin.default", {{"self", P::value("x")}});
  const auto maxima = program.call("aten.max.dim", {{"self", P::value(y)}, {"dim", P::number(int64_t{1})}});
  const std::string wide =
      program.call1("aten.unsqueeze.default", {{"self", P::value(maxima[1])}, {"dim", P::number(int64_t{0})}});
  program.output(program.call1("aten.to.dtype", {{"self", P::value(wide)}, {"dtype", P::dtype(Dtype::kI32)}}));
  program.output(maxima[0]);
  program.output(program.call1("aten.add.Tensor", {{"self", P::value(maxima[1])}, {"other", P::number(int64_t{1})}}));
  const ProgramFacts facts = program.facts();
  EXPECT_EQ(facts.outputs[0].arg_op, "aten.max.dim");
  EXPECT_EQ(facts.outputs[0].arg_operand, y);
  EXPECT_EQ(facts.outputs[0].arg_dim, 1);
  EXPECT_EQ(facts.outputs[1].arg_op, "");
  EXPECT_EQ(facts.outputs[2].arg_op, "") << "a sum is no position";
  EXPECT_THAT(facts.watched, ElementsAre(y));
}

TEST(ProgramFacts, FlatAndStablePositions) {
  P program = with_input();
  program.output(program.call1("aten.argmax.default", {{"self", P::value("x")}}));
  program.output(program.call("aten.sort.stable", {{"self", P::value("x")}, {"stable", P::truth(true)}})[1]);
  program.output(program.call("aten.sort.default", {{"self", P::value("x")}})[1]);
  const ProgramFacts facts = program.facts();
  EXPECT_TRUE(facts.outputs[0].arg_flat);
  EXPECT_TRUE(facts.outputs[1].arg_stable);
  EXPECT_FALSE(facts.outputs[2].arg_stable);
  EXPECT_EQ(facts.outputs[2].arg_dim, -1);
}

TEST(ProgramFacts, InputsWrittenDirectlyOrThroughViews) {
  P program = with_input();
  program.input("y", at::ones({4, 6}));
  program.input("z", at::ones({4, 6}));
  const std::string row = program.call1(
      "aten.select.int", {{"self", P::value("x")}, {"dim", P::number(int64_t{0})}, {"index", P::number(int64_t{1})}});
  program.call("aten.mul_.Tensor", {{"self", P::value(row)}, {"other", P::number(int64_t{2})}});
  program.call("aten.zero_.default", {{"self", P::value("y")}});
  program.output(program.call1("aten.neg.default", {{"self", P::value("z")}}));
  EXPECT_THAT(program.facts().mutated_inputs, ElementsAre("x", "y"));
}

TEST(ProgramFacts, UninitializedAndUnknownOps) {
  P program = with_input();
  program.output(program.call1("aten.empty_like.default", {{"self", P::value("x")}}));
  program.output(program.call1("aten.special_modified_bessel_k0.default", {{"self", P::value("x")}}));
  const ProgramFacts facts = program.facts();
  EXPECT_TRUE(facts.has_uninitialized);
  EXPECT_THAT(facts.unknown_ops, ElementsAre("aten.special_modified_bessel_k0.default"));
  EXPECT_FALSE(with_input().facts().has_uninitialized);
  EXPECT_THAT(with_input().facts().unknown_ops, IsEmpty());
}

TEST(ProgramFacts, DtypesByNodeAndArgument) {
  P program = with_input();
  program.output(program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kBF16)}}));
  const NodeDtypes dtypes = program.facts().dtypes.at("node_0");
  EXPECT_THAT(dtypes.results, ElementsAre(Dtype::kBF16));
  EXPECT_THAT(dtypes.arguments.at("self"), ElementsAre(Dtype::kF32));
}

}  // namespace
}  // namespace aotifuzz
