#include "oracles/unchanged_inputs_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

TEST(UnchangedInputsOracle, ASignOfZeroCounts) {
  Scenario scenario = make_scenario();
  scenario.inputs[0][0][0] = 0.0f;
  scenario.reference.inputs_after[0][0][0] = 0.0f;
  scenario.subject.inputs_after[0][0][0] = -0.0f;
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kFail);
}

TEST(UnchangedInputsOracle, WrittenInputsMayDifferByRounding) {
  Scenario scenario = make_scenario();
  scenario.subject.inputs_after[2].mul_(1 + 0x1p-23f);
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kPass);
  scenario.subject.inputs_after[2].mul_(1.01f);
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).signature, "input-changed input m wrong values");
}

TEST(UnchangedInputsOracle, WithoutTheProgramNobodyKnowsWhichInputsItWrites) {
  Scenario scenario = make_scenario();
  scenario.has_reference = false;
  scenario.subject.inputs_after[1].add_(1);
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kSkip);
}

TEST(UnchangedInputsOracle, ViewsOfAWrittenInputChangeWithIt) {
  Scenario scenario = make_scenario();
  scenario.input.inputs[0].storage_of = "m";
  scenario.reference.inputs_after[0][1][1] = 9;
  scenario.subject.inputs_after[0][1][1] = 9;
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kPass);
}

TEST(UnchangedInputsOracle, ARefusedCallLeavesItsInputsAlone) {
  Scenario scenario = make_scenario();
  scenario.subject.outcome = {OutcomeKind::kRejected, Stage::kSubject, "Error in op: input"};
  const Verdict written = scenario.verdict(UnchangedInputsOracle());  // m, as the program does when it gets through
  EXPECT_EQ(written.signature, "input-changed input m by a refused call");
  EXPECT_TRUE(written.fault);
  scenario.violations = {{.kind = Condition::Kind::kSize, .text = "n.size(0) == x.size(0)", .detail = "n.size(0) = 4"}};
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kFail);
  EXPECT_FALSE(scenario.verdict(UnchangedInputsOracle()).fault);
  scenario.subject.inputs_after[2].copy_(scenario.inputs[2]);
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kSkip);
}

TEST(UnchangedInputsOracle, WhereTheReferenceRaisesOnALegalCallEagerMayHaveWrittenAsMuch) {
  Scenario scenario = make_scenario();
  scenario.subject.outcome = {OutcomeKind::kRejected, Stage::kSubject, "index out of range"};
  scenario.reference.outcome = {OutcomeKind::kRejected, Stage::kReference, "index out of range"};
  EXPECT_EQ(scenario.verdict(UnchangedInputsOracle()).status, VerdictStatus::kSkip);
}

}  // namespace
}  // namespace aotifuzz
