#include "oracles/kernels_oracle.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracles/verdict_builder.h"
#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using testing::make_scenario;
using ::testing::Pair;
using testing::Scenario;
using ::testing::SizeIs;

KernelRecord::Fault wrong_sum() {
  KernelRecord::Fault fault;
  fault.place = {2, "cpp_fused_add_0", "out_ptr0", "add_4", "aten.add.Tensor"};
  fault.answer.kind = TensorAnswer::Kind::kDiffers;
  fault.answer.differing = 1;
  fault.answer.total = 6;
  fault.answer.index = "[0, 3]";
  fault.answer.expected = "3";
  fault.answer.actual = "0";
  return fault;
}

TEST(KernelsOracle, AKernelWithAnErrorOfItsOwnIsAFaultThatNamesItsOp) {
  Scenario scenario = make_scenario();
  scenario.kernels.first = wrong_sum();
  const Verdict verdict = scenario.verdict(KernelsOracle());
  EXPECT_EQ(verdict.status, VerdictStatus::kFail);
  EXPECT_EQ(verdict.cls, VerdictClass::kWrongResult);
  EXPECT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.signature, "wrong-result inside aten.add.Tensor");
  EXPECT_THAT(verdict.measures, Contains(Pair("kernel", "cpp_fused_add_0")));
  EXPECT_THAT(verdict.measures, Contains(Pair("kernel call", "3")));
  EXPECT_THAT(verdict.measures, Contains(Pair("kernel output", "out_ptr0 = add_4 (aten.add.Tensor)")));
}

TEST(KernelsOracle, CallsThatCouldNotBeJudgedAreSkipsWithTheirReason) {
  Scenario scenario = make_scenario();
  scenario.kernels.seen = 3;
  scenario.kernels.not_judged = {{"a size that depends on values", 2}};
  const std::vector<Verdict> verdicts = scenario.judge(KernelsOracle()).verdicts;
  ASSERT_THAT(verdicts, SizeIs(2));
  EXPECT_EQ(verdicts[0].status, VerdictStatus::kPass);
  EXPECT_EQ(verdicts[1].status, VerdictStatus::kSkip);
  EXPECT_EQ(verdicts[1].reason, "a size that depends on values");
}

TEST(KernelsOracle, SaysNothingOutsideTheContract) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
  scenario.kernels.first = wrong_sum();
  EXPECT_NE(scenario.verdict(KernelsOracle()).status, VerdictStatus::kFail);
}

/// Runs with one whose kernels were judged.
RunRecords runs_with(KernelRecord kernels) {
  RunRecord run;
  run.request.kind = RunKind::kSubjectKernels;
  run.kernels = std::make_shared<KernelRecord>(std::move(kernels));
  RunRecords records;
  records.add({.request = {RunKind::kSubject, 0}});
  records.add(std::move(run));
  return records;
}

TEST(NameKernels, TellsAWrongOutputWhichKernelItWas) {
  KernelRecord kernels;
  kernels.first = wrong_sum();
  kernels.first->inputs_wrong = "in_ptr0 (mul) exact";
  std::vector<Verdict> verdicts = {
      fail_verdict("close", VerdictClass::kWrongResult, true, "differs", "output 0"),
      fail_verdict("kernels", VerdictClass::kWrongResult, true, "a kernel", "inside aten.add.Tensor")};
  name_kernels(runs_with(kernels), verdicts);
  ASSERT_THAT(verdicts, SizeIs(1));  // one fault, reported once
  EXPECT_EQ(verdicts[0].oracle, "close");
  EXPECT_THAT(verdicts[0].measures, Contains(Pair("kernel", "cpp_fused_add_0")));
  EXPECT_THAT(verdicts[0].measures, Contains(Pair("kernel inputs", "in_ptr0 (mul) exact")));
}

TEST(NameKernels, WithoutAFaultyKernelSaysWhereTheWrongValueComesIn) {
  KernelRecord kernels;
  kernels.seen = 3;
  kernels.judged = 2;
  kernels.enters = KernelRecord::Entry{.place = {1, "cpp_fused_mul_1", "in_ptr0", "add_4", ""},
                                       .sentence = "the buffer was changed in between"};
  std::vector<Verdict> verdicts = {fail_verdict("close", VerdictClass::kWrongResult, true, "differs", "output 0")};
  name_kernels(runs_with(kernels), verdicts);
  EXPECT_THAT(verdicts[0].measures,
              Contains(Pair("kernel", "none of the 2 judged calls has an error of its own; 1 calls are not judged")));
  EXPECT_THAT(verdicts[0].measures,
              Contains(Pair("divergence enters",
                            "cpp_fused_mul_1, call 2, in in_ptr0 = add_4: the buffer was changed in between")));
}

TEST(NameKernels, SaysWhenTheFaultDidNotComeAgain) {
  RunRecord first, watched;
  first.outputs = {at::ones({2})};
  watched.request.kind = RunKind::kSubjectKernels;
  watched.outputs = {at::zeros({2})};
  watched.kernels = std::make_shared<KernelRecord>();
  first.request.kind = RunKind::kSubject;
  RunRecords records;
  records.add(std::move(first));
  records.add(std::move(watched));
  std::vector<Verdict> verdicts = {fail_verdict("close", VerdictClass::kWrongResult, true, "differs", "output 0")};
  name_kernels(records, verdicts);
  EXPECT_THAT(verdicts[0].measures,
              Contains(Pair("kernel", "not seen: the run whose kernels were watched gave other results")));
}

TEST(NameKernels, MemoryThatNobodyWroteIsTheFaultOfTheKernelThatLeftItOut) {
  KernelRecord kernels;
  kernels.first = wrong_sum();
  Verdict unwritten = fail_verdict("stable", VerdictClass::kMemoryFault, true, "never written", "output 0");
  Verdict pinned = unwritten;
  pinned.measures = {{"kernel", "cpp_fused_mul_1"}};
  std::vector<Verdict> verdicts = {unwritten, pinned};
  name_kernels(runs_with(kernels), verdicts);
  EXPECT_THAT(verdicts[0].measures, Contains(Pair("kernel", "cpp_fused_add_0")));
  EXPECT_THAT(verdicts[1].measures, SizeIs(1));
}

TEST(NameKernels, LeavesOtherVerdictsAlone) {
  KernelRecord kernels;
  kernels.first = wrong_sum();
  std::vector<Verdict> verdicts = {
      fail_verdict("metadata", VerdictClass::kWrongMetadata, true, "differs", "output 0"), pass_verdict("close"),
      fail_verdict("kernels", VerdictClass::kWrongResult, true, "a kernel", "inside aten.add.Tensor")};
  name_kernels(runs_with(kernels), verdicts);
  ASSERT_THAT(verdicts, SizeIs(3));
  EXPECT_THAT(verdicts[0].measures, IsEmpty());
  EXPECT_THAT(verdicts[1].measures, IsEmpty());
}

}  // namespace
}  // namespace aotifuzz
