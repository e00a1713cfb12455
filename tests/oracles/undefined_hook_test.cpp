#include "oracles/undefined_hook.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "oracles/legal_sampler.h"
#include "tests/support/tiny_program.h"

namespace aotifuzz {
namespace {

using P = testing::TinyProgram;

at::Tensor mask(std::initializer_list<int> values) { return at::tensor(std::vector<int>(values)).to(at::kBool); }

/// Elements of output 0 that four undefined samples move away from the float64 run.
at::Tensor undefined_elements(const P& program, const std::vector<at::Tensor>& inputs) {
  const at::Tensor centre = program.run({RunKind::kReferenceF64, 0}, inputs).outputs.at(0);
  at::Tensor moved = at::zeros(centre.sizes(), at::kBool);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const RunRecord record = program.run({RunKind::kReferenceSampled, seed | kUndefinedSeed}, inputs);
    EXPECT_EQ(record.outcome.kind, OutcomeKind::kFinished) << record.outcome.message;
    moved |= record.outputs.at(0) != centre;
  }
  return moved;
}

TEST(UndefinedHook, DefinedProgramsDoNotMove) {
  P program;
  const at::Tensor x = at::tensor({1.0f, 3.0f, 2.0f});
  program.input("x", x);
  const std::string maximum =
      program.call("aten.max.dim", {{"self", P::value("x")}, {"dim", P::number(int64_t{0})}})[1];
  program.output(program.call1("aten.add.Tensor", {{"self", P::value(maximum)}, {"other", P::number(int64_t{1})}}));
  EXPECT_FALSE(undefined_elements(program, {x}).any().item<bool>());
}

// A relu makes one value of half of the numbers there are: with few draws some elements looked defined.
TEST(UndefinedHook, SumsThatMayOverflowStayUndefinedBehindARelu) {
  P program;
  const at::Tensor x = at::full({200, 3}, -3.4e38);
  program.input("x", x);
  const std::string sum = program.call1("aten.sum.dim_IntList", {{"self", P::value("x")}, {"dim", P::numbers({1})}});
  program.output(program.call1("aten.relu.default", {{"self", P::value(sum)}}));
  EXPECT_TRUE(undefined_elements(program, {x}).all().item<bool>());
}

TEST(UndefinedHook, CastsOutOfRange) {
  for (Dtype dtype : {Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64}) {
    P program;
    const at::Tensor x = at::tensor({1.5, -0.5, 1e30, double(std::numeric_limits<float>::quiet_NaN())}, at::kFloat);
    program.input("x", x);
    program.output(program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(dtype)}}));
    EXPECT_TRUE(at::equal(undefined_elements(program, {x}), mask({0, 0, 1, 1}))) << dtype_name(dtype);
  }
}

TEST(UndefinedHook, TheGreatestValuesInRangeAreDefined) {
  P program;
  const at::Tensor x = at::tensor({127.9, 128.0, -128.9, -129.0}, at::kFloat);
  program.input("x", x);
  program.output(program.call1("aten.to.dtype", {{"self", P::value("x")}, {"dtype", P::dtype(Dtype::kI8)}}));
  EXPECT_TRUE(at::equal(undefined_elements(program, {x}), mask({0, 1, 0, 1})));
}

TEST(UndefinedHook, TiesOfPositions) {
  for (const char* target : {"aten.argmax.default", "aten.argmin.default"}) {
    P program;
    const at::Tensor x = at::tensor({2.0f, 2.0f, 2.0f, 2.0f});
    program.input("x", x);
    program.output(program.call1(target, {{"self", P::value("x")}}));
    EXPECT_TRUE(undefined_elements(program, {x}).all().item<bool>()) << target;
  }
}

TEST(UndefinedHook, PositionsStayValid) {
  P program;
  const at::Tensor x = at::arange(35).mul(3).remainder(7).to(at::kFloat).view({5, 7});
  program.input("x", x);
  const auto top = program.call(
      "aten.topk.default", {{"self", P::value("x")}, {"k", P::number(int64_t{3})}, {"dim", P::number(int64_t{0})}});
  program.output(program.call1("aten.gather.default",
                               {{"self", P::value("x")}, {"dim", P::number(int64_t{0})}, {"index", P::value(top[1])}}));
  EXPECT_FALSE(undefined_elements(program, {x}).any().item<bool>()) << "the values found there are the same";
}

TEST(UndefinedHook, StableSortsAreDefined) {
  P program;
  const at::Tensor x = at::ones({6});
  program.input("x", x);
  program.output(program.call("aten.sort.stable", {{"self", P::value("x")}, {"stable", P::truth(true)}})[1]);
  EXPECT_FALSE(undefined_elements(program, {x}).any().item<bool>());
}

TEST(UndefinedHook, WinnersOfDuplicateIndices) {
  P program;
  const at::Tensor self = at::zeros({4}), source = at::tensor({1.0f, 2.0f, 3.0f}),
                   index = at::tensor({1, 1, 3}, at::kLong);
  program.input("self", self);
  program.input("source", source);
  program.input("index", index);
  program.output(
      program.call1("aten.index_put.default",
                    {{"self", P::value("self")}, {"indices", P::values({"index"})}, {"values", P::value("source")}}));
  EXPECT_TRUE(at::equal(undefined_elements(program, {self, source, index}), mask({0, 1, 0, 0})));
}

TEST(UndefinedHook, AccumulationIsDefined) {
  P program;
  const at::Tensor self = at::zeros({4}), source = at::tensor({1.0f, 2.0f, 3.0f}),
                   index = at::tensor({1, 1, 3}, at::kLong);
  program.input("self", self);
  program.input("source", source);
  program.input("index", index);
  program.output(program.call1("aten.index_put.default", {{"self", P::value("self")},
                                                          {"indices", P::values({"index"})},
                                                          {"values", P::value("source")},
                                                          {"accumulate", P::truth(true)}}));
  EXPECT_FALSE(undefined_elements(program, {self, source, index}).any().item<bool>());
}

TEST(UndefinedHook, ContentsOfEmptyTensors) {
  for (at::ScalarType type : {at::kFloat, at::kInt, at::kBool}) {
    P program;
    const at::Tensor x = at::ones({8}).to(type);
    program.input("x", x);
    program.output(program.call1("aten.empty_like.default", {{"self", P::value("x")}}));
    EXPECT_TRUE(undefined_elements(program, {x}).any().item<bool>()) << type;
  }
}

/// The hook around an op that is not really called: integer division traps on some of these values.
TEST(UndefinedHook, IntegerQuotientsByZeroAndOfTheLeastValue) {
  ProgramFacts facts;
  facts.dtypes["div"].results = {Dtype::kI32};
  const at::Tensor a = at::tensor({7, std::numeric_limits<int>::min(), 5}, at::kInt),
                   b = at::tensor({0, -1, 2}, at::kInt);
  at::Tensor moved = at::zeros({3}, at::kBool);
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto hook = make_sampled_hook(facts, seed | kUndefinedSeed);
    const NodeHook::OpInfo op{0, "div", "aten.div.Tensor_mode", false};
    torch::jit::Stack stack{a, b, c10::IValue("floor")};
    hook->before(op, stack);
    stack = {at::zeros({3}, at::kInt)};
    hook->after(op, stack);
    moved |= stack[0].toTensor() != 0;
  }
  EXPECT_TRUE(at::equal(moved, mask({1, 1, 0})));
}

}  // namespace
}  // namespace aotifuzz
