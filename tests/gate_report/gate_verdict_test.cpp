#include "gate_report/gate_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "gate_report/fault_kinds.h"
#include "gate_report/gate_text.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

GateFinding found(const std::string& kind, const std::string& sizes, int64_t weight, int output = 0) {
  GateFinding finding;
  finding.kind = kind;
  finding.message = kind + " of output " + std::to_string(output);
  finding.sizes = sizes;
  finding.layout = "contiguous";
  finding.weight = weight;
  finding.output = output;
  return finding;
}

OperatorVerdict judged(std::vector<GateFinding> findings, const std::string& not_judged = "", bool ended = true) {
  GateOperator op;
  op.name = "ns::op";
  op.findings = std::move(findings);
  op.not_judged = not_judged;
  op.ended = ended ? 1 : 0;
  return judge_operators({op}, "libops.so").at(0);
}

TEST(GateVerdict, OneFaultOfManySizesIsShownAtTheSmallest) {
  const auto verdict = judged(
      {found("meta-wrong-size", "B=7", 7), found("meta-wrong-size", "B=0", 0), found("meta-wrong-size", "B=2", 2)});
  ASSERT_EQ(verdict.faults.size(), 1u);
  EXPECT_EQ(verdict.faults[0].sizes, "B=2") << "no size of 0 where another shows it";
  EXPECT_EQ(verdict.faults[0].seen, 3);
  EXPECT_EQ(verdict.status, GateStatus::kFaults);
}

TEST(GateVerdict, OtherOutputsAreListedUnderTheSameFault) {
  const auto verdict = judged({found("meta-wrong-size", "B=7", 7, 0), found("meta-wrong-size", "B=7", 7, 1)});
  ASSERT_EQ(verdict.faults.size(), 1u);
  EXPECT_EQ(verdict.faults[0].also.size(), 1u);
}

TEST(GateVerdict, SymptomsOfOneCauseAreOneFault) {
  EXPECT_EQ(judged({found("undeclared-alias", "B=7", 7), found("meta-wrong-alias", "B=7", 7)}).faults.size(), 1u);
  EXPECT_EQ(judged({found("kernel-overruns", "B=7", 7), found("kernel-crashes", "B=0", 0)}).faults.size(), 1u);
  EXPECT_EQ(judged({found("hidden-mutation", "B=7", 7), found("undeclared-alias", "B=7", 7)}).faults.size(), 1u);
}

TEST(GateVerdict, DifferentCausesStayApart) {
  EXPECT_EQ(judged({found("meta-wrong-size", "B=7", 7), found("hidden-mutation", "B=7", 7)}).faults.size(), 2u);
  GateFinding x = found("hidden-mutation", "B=7", 7), y = x;
  x.message = "changes x";
  y.message = "changes y";
  EXPECT_EQ(judged({x, y}).faults.size(), 2u);
}

TEST(GateVerdict, PreconditionsAreNoFaults) {
  GateFinding finding = found("kernel-crashes", "B=0", 0);
  finding.precondition = true;
  const auto verdict = judged({finding});
  EXPECT_EQ(verdict.status, GateStatus::kOk);
  EXPECT_EQ(verdict.preconditions.size(), 1u);
  EXPECT_THAT(gate_text({verdict}), HasSubstr("preconditions"));
}

TEST(GateVerdict, WhatWasNotJudgedIsNeverOk) {
  EXPECT_EQ(judged({}, "its fake is Python (module m)").status, GateStatus::kNotJudged);
  EXPECT_EQ(judged({}, "", /*ended=*/false).status, GateStatus::kNotJudged);
  EXPECT_EQ(judged({}).status, GateStatus::kOk);
  EXPECT_EQ(judged({found("hidden-mutation", "B=7", 7)}, "reason").status, GateStatus::kFaults);
}

TEST(GateVerdict, TheRegistrationStandsInForAPlaceInTheCode) {
  GateFinding finding = found("meta-missing", "", 0);
  finding.file = "/nonexistent/ops.cpp";
  finding.line = 12;
  const auto verdict = judged({finding});
  EXPECT_EQ(place_text(verdict.faults[0]), "/nonexistent/ops.cpp:12, where it is registered");
}

TEST(FaultKinds, AreDistinctAndSayWhatToDo) {
  std::set<std::string_view> seen;
  for (const FaultKind& kind : fault_kinds()) {
    EXPECT_TRUE(seen.insert(kind.id).second) << kind.id;
    EXPECT_FALSE(kind.meaning.empty()) << kind.id;
    EXPECT_FALSE(kind.to_do.empty()) << kind.id;
  }
  EXPECT_EQ(fault_kind("of-another-build").id, "");
}

TEST(FaultKinds, ReadmeHasTheTable) {
  std::ifstream in(AOTIFUZZ_SOURCE_DIR "/README.md");
  const std::string readme{std::istreambuf_iterator<char>(in), {}};
  for (const FaultKind& kind : fault_kinds())
    EXPECT_THAT(readme, HasSubstr("| `" + std::string(kind.id) + "` | " + std::string(kind.meaning) + " | " +
                                  std::string(kind.to_do) + " |"));
}

TEST(GateText, ReportsForCiHoldEveryOperatorAndRule) {
  const auto verdict = judged({found("meta-wrong-size", "B=7", 7), found("hidden-mutation", "B=7", 7)});
  GateOperator right;
  right.name = "ns::right";
  right.ended = 1;
  auto verdicts = judge_operators({right}, "libops.so");
  verdicts.push_back(verdict);
  const CiReport report = gate_ci_report("build/libops.so", verdicts, "1");
  ASSERT_EQ(report.items.size(), 3u);
  EXPECT_EQ(report.items[0].status, CiStatus::kPassed);
  EXPECT_EQ(report.items[1].name, "ns::op");
  EXPECT_EQ(report.items[1].suite, "libops.so");
  EXPECT_EQ(report.items[1].status, CiStatus::kFailed);
  EXPECT_NE(report.items[1].fingerprint, report.items[2].fingerprint);
  for (const CiItem& item : report.items)
    EXPECT_THAT(item.fingerprint, Not(HasSubstr("B=7"))) << "sizes are no part of what stays the same";
  EXPECT_EQ(report.rules.size(), fault_kinds().size());
}

}  // namespace
}  // namespace aotifuzz
