#include "oracles/rejection_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

Scenario refused(const std::string& message) {
  Scenario scenario = make_scenario();
  scenario.subject.outcome = {OutcomeKind::kRejected, Stage::kSubject, message};
  scenario.subject.outputs.clear();
  return scenario;
}

TEST(RejectionOracle, WithInputChecksARefusalOfLegalInputIsAGap) {
  Scenario scenario = refused("input_handles[0]: dim value is too small at 1, expected it to be >= 2, but got: 1");
  EXPECT_TRUE(scenario.verdict(RejectionOracle()).fault);
  scenario.input.input_checks = true;
  EXPECT_FALSE(scenario.verdict(RejectionOracle()).fault);
}

TEST(RejectionOracle, NamesTheKernelThatThrew) {
  Scenario scenario = refused("index out of bounds: 0 <= tmp7 < 100L");
  scenario.subject.thrown_in = "cpp_fused_embedding_0";
  const Verdict verdict = scenario.verdict(RejectionOracle());
  EXPECT_EQ(verdict.measures.back(), (std::pair<std::string, std::string>("kernel", "cpp_fused_embedding_0")));
}

TEST(RejectionOracle, OneSignaturePerDimensionAndCheck) {
  const auto signature = [](const std::string& message) {
    return refused(message).verdict(RejectionOracle()).signature;
  };
  const std::string one =
      signature("input_handles[0]: dim value is too small at 1, expected it to be >= 2, but got: 1");
  EXPECT_EQ(one, signature("input_handles[0]: dim value is too small at 1, expected it to be >= 2, but got: 0"));
  EXPECT_NE(one, signature("input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: 1"));
  EXPECT_NE(one, signature("input_handles[1]: dim value is too small at 1, expected it to be >= 2, but got: 1"));
  EXPECT_NE(one, signature("input_handles[0]: dim value is too large at 1, expected it to be <= 64, but got: 70"));
  EXPECT_NE(one.find("x.size(1)"), std::string::npos) << one;
}

TEST(RejectionOracle, ARefusalWithoutAReasonNamesTheSmallDimension) {
  Scenario scenario = refused("run_func_(...) API call failed");
  SymbolSpec symbol;
  symbol.dim = "x.size(0)";
  scenario.contract.symbols.push_back(symbol);
  scenario.input.inputs[0].sizes[0] = 1;
  EXPECT_EQ(scenario.verdict(RejectionOracle()).signature, "rejects-legal at x.size(0) = 1");
}

TEST(RejectionOracle, BothRefusingIsAgreement) {
  Scenario scenario = refused("no");
  scenario.reference.outcome.kind = OutcomeKind::kRejected;
  EXPECT_EQ(scenario.verdict(RejectionOracle()).status, VerdictStatus::kPass);
}

TEST(RejectionOracle, MissedErrorOutsideTheContractSaysWhatIsBroken) {
  Scenario scenario = make_scenario();
  scenario.reference.outcome = {OutcomeKind::kRejected, Stage::kReference, "bad"};
  scenario.violations.push_back({Condition::Kind::kSize, 0, "n.size(0) == x.size(0)", "n.size(0) = 5, x.size(0) = 6"});
  const Verdict verdict = scenario.verdict(RejectionOracle());
  EXPECT_EQ(verdict.cls, VerdictClass::kMissesError);
  EXPECT_EQ(verdict.signature, "misses-error n.size(0) == x.size(0)");
  EXPECT_EQ(verdict.measures.back().second, "n.size(0) = 5, x.size(0) = 6");
}

}  // namespace
}  // namespace aotifuzz
