#include "oracles/close_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;
using P = testing::TinyProgram;

TEST(CloseOracle, SignatureNamesOutputAndOp) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[3].view({-1})[8].neg_();
  EXPECT_EQ(scenario.verdict(CloseOracle()).signature, "wrong-result output 3 aten.add.Tensor");
}

TEST(CloseOracle, SpecialValuesHaveASignatureOfTheirOwn) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[3].view({-1})[34].fill_(1);
  EXPECT_EQ(scenario.verdict(CloseOracle()).signature, "wrong-result output 3 aten.add.Tensor (special values)");
}

TEST(CloseOracle, MeasuresComeInPrintOrder) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[3].view({-1})[8].neg_();
  std::string names;
  for (const auto& [name, value] : scenario.verdict(CloseOracle()).measures) names += name + " ";
  EXPECT_EQ(names, "output differing index expected actual float64 permitted error ");
}

TEST(CloseOracle, ADifferenceThatPassesSaysHowNearItCame) {
  const auto nearness = [](float factor) -> std::string {
    Scenario scenario = make_scenario();
    scenario.subject.outputs[3].view({-1})[8].mul_(factor);
    const Verdict verdict = scenario.verdict(CloseOracle());
    EXPECT_EQ(verdict.status, VerdictStatus::kPass) << factor;
    return verdict.measures.empty() ? "" : verdict.measures[0].first + " " + verdict.measures[0].second;
  };
  EXPECT_EQ(nearness(1), "");
  const std::string one = nearness(1 + 0x1p-23f);
  EXPECT_EQ(one.find(std::string(kNearness) + " 0."), 0u) << one;
}

TEST(CloseOracle, OutsideTheContractARightResultIsLucky) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
  const Verdict verdict = scenario.verdict(CloseOracle());
  EXPECT_EQ(verdict.cls, VerdictClass::kAcceptsIllegal);
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.signature, "accepts-illegal x.size(0) <= 4 lucky");
}

TEST(CloseOracle, OutsideTheContractAWrongResultShapeOrInputIsSilent) {
  for (int what = 0; what < 3; ++what) {
    Scenario scenario = make_scenario();
    scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
    if (what == 0) scenario.subject.outputs[3].neg_();
    if (what == 1) scenario.subject.outputs[3] = scenario.subject.outputs[3].slice(0, 0, 2);
    if (what == 2) scenario.subject.inputs_after[0].zero_();
    EXPECT_EQ(scenario.verdict(CloseOracle()).signature, "accepts-illegal x.size(0) <= 4 silent") << what;
  }
}

TEST(CloseOracle, AgreementOfConstantsProvesLittle) {
  P program;
  const at::Tensor x = at::zeros({4});
  program.input("x", x);
  program.output(program.call1("aten.sin.default", {{"self", P::value("x")}}));
  const Verdict verdict = Scenario(program, {x}).verdict(CloseOracle());
  EXPECT_EQ(verdict.status, VerdictStatus::kMistrusted);
  EXPECT_EQ(verdict.reason, "agreement proves little: every output is constant");
  EXPECT_EQ(Scenario(program, {at::zeros({0})}).verdict(CloseOracle()).reason,
            "agreement proves little: every output is empty");
}

TEST(CloseOracle, OpWithoutAFloat64KernelLeavesDisagreementUnjudged) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[3].view({-1})[8].neg_();
  scenario.change_referee = [](RunRecord& record) {
    record.outcome.kind = OutcomeKind::kRejected;
    record.outcome.message = "\"foo_cpu\" not implemented for 'Double'";
    record.outputs.clear();
  };
  const Verdict verdict = scenario.verdict(CloseOracle());
  EXPECT_EQ(verdict.status, VerdictStatus::kMistrusted);
  EXPECT_EQ(verdict.reason, "no referee: \"foo_cpu\" not implemented for 'Double'");
}

}  // namespace
}  // namespace aotifuzz
