#include "oracles/position_judge.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "oracles/close_oracle.h"
#include "tests/support/tiny_program.h"

namespace aotifuzz {
namespace {

using P = testing::TinyProgram;
using testing::Scenario;

Scenario positions_of(const std::string& target, P::Arguments arguments, const at::Tensor& x, size_t result) {
  P program;
  program.input("x", x);
  arguments.insert(arguments.begin(), {"self", P::value("x")});
  program.output(program.call(target, arguments).at(result));
  return Scenario(std::move(program), {x});
}

VerdictStatus status(const Scenario& scenario) { return scenario.verdict(CloseOracle()).status; }

const at::Tensor kLine = at::tensor({1.0f, 5.0f, 5.0f, 2.0f});

TEST(PositionJudge, AnyOfEqualElementsWillDo) {
  Scenario scenario = positions_of("aten.argmax.default", {}, kLine, 0);
  scenario.subject.outputs[0].fill_(3 - scenario.reference.outputs[0].item<int64_t>());
  EXPECT_NE(status(scenario), VerdictStatus::kFail);
}

TEST(PositionJudge, AnotherElementFailsAndShowsTheValues) {
  Scenario scenario = positions_of("aten.argmax.default", {}, kLine, 0);
  scenario.subject.outputs[0].fill_(3);
  const Verdict verdict = scenario.verdict(CloseOracle());
  ASSERT_EQ(verdict.status, VerdictStatus::kFail);
  bool shown = false;
  for (const auto& [name, value] : verdict.measures) shown |= name == "actual" && value == "3 (value 2)";
  EXPECT_TRUE(shown);
}

TEST(PositionJudge, OutOfRangeFails) {
  for (int64_t position : {-1, 4, 1 << 20}) {
    Scenario scenario = positions_of("aten.argmax.default", {}, kLine, 0);
    scenario.subject.outputs[0].fill_(position);
    EXPECT_EQ(status(scenario), VerdictStatus::kFail) << position;
  }
}

TEST(PositionJudge, PositionsAlongAnInnerDimension) {
  const at::Tensor x = at::arange(24).mul(7).remainder(11).to(at::kFloat).view({2, 3, 4});
  Scenario scenario = positions_of("aten.max.dim", {{"dim", P::number(int64_t{1})}}, x, 1);
  EXPECT_EQ(status(scenario), VerdictStatus::kPass);
  at::Tensor& output = scenario.subject.outputs[0];
  output[1][2].fill_((output[1][2].item<int64_t>() + 1) % 3);
  EXPECT_EQ(status(scenario), VerdictStatus::kFail);
}

TEST(PositionJudge, ExactInputsHaveNoNearTies) {
  Scenario scenario = positions_of("aten.argmax.default", {}, at::tensor({1.0f, 1 + 0x1p-23f}), 0);
  scenario.subject.outputs[0].fill_(0);
  EXPECT_EQ(status(scenario), VerdictStatus::kFail);
}

TEST(PositionJudge, RepeatedPositionsOfATopkFail) {
  Scenario scenario = positions_of("aten.topk.default", {{"k", P::number(int64_t{2})}}, kLine, 1);
  scenario.subject.outputs[0].fill_(1);
  EXPECT_EQ(status(scenario), VerdictStatus::kFail);
}

TEST(PositionJudge, StableSortsKeepTheOrderOfTies) {
  Scenario stable = positions_of("aten.sort.stable", {{"stable", P::truth(true)}}, kLine, 1);
  stable.subject.outputs[0].copy_(at::tensor({0, 3, 2, 1}, at::kLong));
  EXPECT_EQ(status(stable), VerdictStatus::kFail);
  Scenario loose = positions_of("aten.sort.default", {}, kLine, 1);
  loose.subject.outputs[0].copy_(at::tensor({0, 3, 2, 1}, at::kLong));
  EXPECT_NE(status(loose), VerdictStatus::kFail);
}

TEST(PositionJudge, IntegerOperandsCompareExactly) {
  const at::Tensor x = at::tensor({int64_t{1} << 53, (int64_t{1} << 53) + 1}, at::kLong);
  Scenario scenario = positions_of("aten.argmax.default", {}, x, 0);
  scenario.subject.outputs[0].fill_(0);
  EXPECT_EQ(status(scenario), VerdictStatus::kFail);
}

}  // namespace
}  // namespace aotifuzz
