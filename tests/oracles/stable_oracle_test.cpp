#include "oracles/stable_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

TEST(StableOracle, OneBitIsEnough) {
  Scenario scenario = make_scenario();
  scenario.again.outputs[3][0][0].mul_(1 + 0x1p-23f);
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kFail);
}

TEST(StableOracle, OneRunThatRefusesIsUnstable) {
  Scenario scenario = make_scenario();
  scenario.again.outcome.kind = OutcomeKind::kRejected;
  EXPECT_EQ(scenario.verdict(StableOracle()).signature, "unstable the outcome");
}

TEST(StableOracle, InputsLeftDifferentAreUnstable) {
  Scenario scenario = make_scenario();
  scenario.again.inputs_after[2][0] = 5;
  EXPECT_EQ(scenario.verdict(StableOracle()).signature, "unstable input m afterwards");
}

TEST(StableOracle, WorksWithoutAReference) {
  Scenario scenario = make_scenario();
  scenario.has_reference = false;
  scenario.again.outputs[0][0] = 5;
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kFail);
}

TEST(StableOracle, IllegalInputsAreNotItsBusiness) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", ""});
  scenario.again.outputs[0][0] = 5;
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kSkip);
}

TEST(StableOracle, PlansAsManyRunsAsTheCaseAsksFor) {
  Scenario scenario = make_scenario();
  const CaseContext context{.input = scenario.input,
                            .contract = scenario.contract,
                            .violations = scenario.violations,
                            .facts = scenario.facts,
                            .has_reference = false,
                            .inputs_before = scenario.inputs};
  scenario.input.runs = 3;
  EXPECT_EQ(StableOracle().plan(context).size(), 3u);
  scenario.input.runs = 1;
  EXPECT_TRUE(StableOracle().plan(context).empty());
}

}  // namespace
}  // namespace aotifuzz
