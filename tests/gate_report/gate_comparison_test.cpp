#include "gate_report/gate_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

GateOperator op(const std::string& name) {
  GateOperator out;
  out.name = name;
  out.schema = name + "(Tensor x) -> Tensor";
  out.expressions["0 contiguous output 0"] = "[B]";
  out.values["0 contiguous B=7"] = {"f32[7]", "f32[7]"};
  out.values["0 contiguous B=64"] = {"f32[64]", "f32[64]"};
  out.ended = 1;
  return out;
}

GateFinding fault(const std::string& kind) {
  GateFinding out;
  out.kind = kind;
  return out;
}

GateComparison compared(GateOperator before, GateOperator after) {
  GateRun a, b;
  a.operators = {std::move(before)};
  b.operators = {std::move(after)};
  return compare_runs(std::move(a), std::move(b));
}

ChangeKind kind_of(GateOperator after) {
  const GateComparison comparison = compared(op("ns::op"), std::move(after));
  EXPECT_EQ(comparison.changes.size(), 1u);
  return comparison.changes.empty() ? ChangeKind::kAdded : comparison.changes[0].kind;
}

TEST(GateComparison, NothingChangedIsNothing) {
  const GateComparison comparison = compared(op("ns::op"), op("ns::op"));
  EXPECT_TRUE(comparison.changes.empty());
  EXPECT_EQ(comparison.points, 2);
  EXPECT_FALSE(comparison.made_worse());
}

TEST(GateComparison, EachKindOfChangeIsTold) {
  GateOperator after = op("ns::op");
  after.expressions["0 contiguous output 0"] = "[(B + 0)]";
  EXPECT_EQ(kind_of(after), ChangeKind::kEqual);

  after = op("ns::op");
  after.values["0 contiguous B=64"] = {"raises", "raises"};
  EXPECT_EQ(kind_of(after), ChangeKind::kNarrowed);

  after = op("ns::op");
  after.values["0 contiguous B=64"] = {"f32[65]", "f32[65]"};
  EXPECT_EQ(kind_of(after), ChangeKind::kChanged);

  after = op("ns::op");
  after.findings = {fault("meta-wrong-size")};
  EXPECT_EQ(kind_of(after), ChangeKind::kUnsound);

  after = op("ns::op");
  after.findings = {fault("meta-specialises")};
  EXPECT_EQ(kind_of(after), ChangeKind::kSpecialised);

  after = op("ns::op");
  after.findings = {fault("hidden-mutation")};
  EXPECT_EQ(kind_of(after), ChangeKind::kBroken);

  after = op("ns::op");
  after.schema = "ns::op(Tensor y) -> Tensor";
  EXPECT_EQ(kind_of(after), ChangeKind::kSchema);
}

TEST(GateComparison, TheFirstSizesAtWhichTheyDifferAreTheSmallest) {
  GateOperator after = op("ns::op");
  after.values["0 contiguous B=64"] = {"f32[65]", "f32[65]"};
  after.values["0 contiguous B=7"] = {"f32[8]", "f32[8]"};
  const GateComparison comparison = compared(op("ns::op"), after);
  ASSERT_EQ(comparison.changes.size(), 1u);
  EXPECT_EQ(comparison.changes[0].first_sizes, "B=7");
  EXPECT_EQ(comparison.changes[0].differing, 2);
  EXPECT_THAT(comparison_text(comparison, false), HasSubstr("2 of 2 points differ, first B=7"));
}

TEST(GateComparison, FaultsThatWereThereBeforeAreNotWorse) {
  GateOperator before = op("ns::op"), after = op("ns::op");
  before.findings = after.findings = {fault("meta-wrong-size")};
  const GateComparison same = compared(before, after);
  EXPECT_FALSE(same.made_worse());
  EXPECT_EQ(same.worse_only().at(0).status, GateStatus::kOk);
  const GateComparison worse = compared(op("ns::op"), after);
  EXPECT_TRUE(worse.made_worse());
  EXPECT_EQ(worse.worse_only().at(0).faults.size(), 1u);
  EXPECT_EQ(compared(before, op("ns::op")).changes.at(0).kind, ChangeKind::kFixed);
}

TEST(GateComparison, OperatorsThatComeAndGoAreNamed) {
  const GateComparison comparison = compared(op("ns::gone"), op("ns::new"));
  ASSERT_EQ(comparison.changes.size(), 2u);
  EXPECT_EQ(comparison.changes[0].kind, ChangeKind::kRemoved);
  EXPECT_EQ(comparison.changes[1].kind, ChangeKind::kAdded);
}

}  // namespace
}  // namespace aotifuzz
