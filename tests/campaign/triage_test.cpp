#include "campaign/triage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::HasSubstr;

class Triage : public ::testing::Test {
 protected:
  Verdict judge(const Case& c, const CaseResult& result) {
    const std::vector<Verdict> verdicts = judge_result({contract_, has_reference_}, c, result);
    EXPECT_EQ(verdicts.size(), 1u);
    return verdicts.empty() ? Verdict{} : verdicts[0];
  }
  Contract contract_ = tied_contract();
  bool has_reference_ = true;
};

TEST_F(Triage, ACrashOnALegalInputIsAFault) {
  const Verdict verdict = judge(tied_case(2, 3), died(SIGSEGV));
  EXPECT_EQ(verdict.status, VerdictStatus::kFail);
  EXPECT_EQ(verdict.cls, VerdictClass::kCrash);
  EXPECT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.signature, "crash SIGSEGV in subject");
}

TEST_F(Triage, ACrashOutsideTheContractIsAGapNamedAfterTheBrokenCondition) {
  Case c = tied_case(2, 3);
  c.inputs[1].sizes = {7};
  const Verdict verdict = judge(c, died(SIGFPE));
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.signature, "crash SIGFPE in subject, breaks y.size(0) == x.size(1)");
}

TEST_F(Triage, ACrashWhereTheReferenceRaisedIsAGap) {
  CaseResult result = died(SIGFPE);
  result.death->reference_accepts = false;
  const Verdict verdict = judge(tied_case(2, 3), result);
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.signature, "crash SIGFPE in subject, reference raises");
}

CaseResult lost_device(const std::string& error, bool memory) {
  CaseResult result = died(0);
  result.death->kind = WorkerDeath::Kind::kDeviceFault;
  result.death->device_error = error;
  result.death->memory_fault = memory;
  result.death->step = "launch 1: triton_poi_fused_add_0";
  return result;
}

TEST_F(Triage, AnIllegalAccessOfADeviceIsAMemoryFaultThatNamesKernelAndRelation) {
  const CaseResult result = lost_device("illegal memory access", true);
  const Verdict legal = judge(tied_case(2, 3), result);
  EXPECT_EQ(legal.cls, VerdictClass::kMemoryFault);
  EXPECT_TRUE(legal.fault);
  EXPECT_EQ(legal.signature, "illegal memory access in subject");
  EXPECT_THAT(legal.reason, HasSubstr("in launch 1: triton_poi_fused_add_0"));
  Case c = tied_case(2, 3);
  c.inputs[1].sizes = {7};
  const Verdict gap = judge(c, result);
  EXPECT_FALSE(gap.fault);
  EXPECT_EQ(gap.signature, "illegal memory access in subject, breaks y.size(0) == x.size(1)");
  EXPECT_THAT(gap.reason, HasSubstr("y.size(0) = 7"));
}

TEST_F(Triage, AnotherErrorOfADeviceIsACrash) {
  const Verdict verdict = judge(tied_case(2, 3), lost_device("launch failure", false));
  EXPECT_EQ(verdict.cls, VerdictClass::kCrash);
  EXPECT_EQ(verdict.signature, "crash launch failure in subject");
}

TEST_F(Triage, AnAssertionOfADeviceIsARefusalWhereTheReferenceRaises) {
  CaseResult result = lost_device("device-side assert", false);
  EXPECT_EQ(judge(tied_case(2, 3), result).cls, VerdictClass::kCrash);
  result.death->reference_accepts = false;
  const Verdict verdict = judge(tied_case(2, 3), result);
  EXPECT_EQ(verdict.status, VerdictStatus::kSkip);
  EXPECT_EQ(verdict.reason, "the package asserts where the reference raises");
  result = lost_device("illegal memory access", true);
  result.death->reference_accepts = false;
  EXPECT_EQ(judge(tied_case(2, 3), result).cls, VerdictClass::kMemoryFault) << "an illegal access refuses nothing";
}

TEST_F(Triage, AFaultOfTheReferenceOnADeviceIsNoFinding) {
  CaseResult result = lost_device("illegal memory access", true);
  result.death->stage = Stage::kReference;
  result.death->reference_done = false;
  EXPECT_EQ(judge(tied_case(2, 3), result).reason, "reference crashed");
}

TEST_F(Triage, ACrashOfTheReferenceIsNoFinding) {
  const Verdict verdict = judge(tied_case(2, 3), died(SIGSEGV, Stage::kReference, false));
  EXPECT_EQ(verdict.status, VerdictStatus::kSkip);
  EXPECT_EQ(verdict.reason, "reference crashed");
}

TEST_F(Triage, ACrashBeforeTheReferenceEndedIsNoFindingWhateverTheStageSays) {
  EXPECT_EQ(judge(tied_case(2, 3), died(SIGSEGV, Stage::kSubject, false)).status, VerdictStatus::kSkip);
}

TEST_F(Triage, WithoutAReferenceNothingIsKnownToBeLegalSoACrashIsAGap) {
  has_reference_ = false;
  const Verdict verdict = judge(tied_case(2, 3), died(SIGSEGV));
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.cls, VerdictClass::kCrash);
  EXPECT_THAT(verdict.reason, HasSubstr("nobody knows whether the input is legal"));
}

TEST_F(Triage, ARefereeThatCrashesIsNoFindingUnlessTheHeapWasHit) {
  CaseResult result = died(SIGABRT, Stage::kReferee);
  EXPECT_EQ(judge(tied_case(2, 3), result).status, VerdictStatus::kSkip);
  result.death->last_words = "corrupted size vs. prev_size\n";
  const Verdict verdict = judge(tied_case(2, 3), result);
  EXPECT_EQ(verdict.status, VerdictStatus::kFail);
  EXPECT_EQ(verdict.signature, "crash SIGABRT after subject");
}

TEST_F(Triage, OutOfMemoryAndALostWorkerAreNoFindings) {
  CaseResult result = died(SIGKILL);
  result.death->kind = WorkerDeath::Kind::kOutOfMemory;
  EXPECT_EQ(judge(tied_case(2, 3), result).reason, "out of memory");
  result.death->kind = WorkerDeath::Kind::kLost;
  EXPECT_EQ(judge(tied_case(2, 3), result).status, VerdictStatus::kSkip);
}

TEST_F(Triage, AHangOfThePackageIsAFindingAndOneOfTheReferenceIsNot) {
  CaseResult result = died(SIGKILL);
  result.death->kind = WorkerDeath::Kind::kHang;
  const Verdict verdict = judge(tied_case(2, 3), result);
  EXPECT_EQ(verdict.cls, VerdictClass::kHang);
  EXPECT_TRUE(verdict.fault);
  result.death->stage = Stage::kReference;
  result.death->reference_done = false;
  EXPECT_EQ(judge(tied_case(2, 3), result).reason, "reference timed out");
  result.death->stage = Stage::kJudge;
  result.death->reference_done = true;
  EXPECT_EQ(judge(tied_case(2, 3), result).status, VerdictStatus::kSkip);
}

TEST_F(Triage, SignaturesNameNoAddressSizeOrKernel) {
  CaseResult result = died(SIGSEGV);
  result.death->fault_address = 0xdeadbeef;
  result.death->step = "cpp_fused_add_7";
  const Verdict a = judge(tied_case(2, 3), result);
  result.death->fault_address = 0x1234;
  result.death->step = "cpp_fused_add_8";
  EXPECT_EQ(finding_key(a), finding_key(judge(tied_case(5, 9), result)));
  EXPECT_THAT(a.signature, ::testing::Not(HasSubstr("cpp_fused")));
}

TEST_F(Triage, ADeathInGuardedMemoryIsAMemoryFaultThatNamesBufferKernelAndStack) {
  CaseResult result = died(SIGSEGV);
  MemoryFault fault;
  fault.access = MemoryFault::Access::kRead;
  fault.buffer_known = true;
  fault.role = BufferRole::kInput;
  fault.name = "y";
  fault.bytes = 12;
  fault.distance = 4;
  fault.kernel = "cpp_fused_add_0";
  fault.call = 2;
  result.death->memory = fault;
  result.death->stack = "cpp_fused_add_0 (package)\nrun_impl (package)";
  const Verdict legal = judge(tied_case(2, 3), result);
  EXPECT_EQ(legal.cls, VerdictClass::kMemoryFault);
  EXPECT_TRUE(legal.fault);
  EXPECT_EQ(legal.signature, "memory-fault read past end of input y");
  const auto has = [&](const char* name, const char* value) {
    return std::find(legal.measures.begin(), legal.measures.end(), std::pair<std::string, std::string>(name, value)) !=
           legal.measures.end();
  };
  EXPECT_TRUE(has("kernel", "cpp_fused_add_0"));
  EXPECT_TRUE(has("kernel call of the run", "2"));
  EXPECT_TRUE(has("bytes past the end", "4"));
  EXPECT_TRUE(has("stack", "cpp_fused_add_0 (package) < run_impl (package)"));

  Case longer = tied_case(2, 3);
  longer.inputs[1].sizes = {7};
  const Verdict gap = judge(longer, result);
  EXPECT_FALSE(gap.fault);
  EXPECT_EQ(gap.signature, "memory-fault read past end of input y, breaks y.size(0) == x.size(1)");
  EXPECT_THAT(gap.reason, HasSubstr("y.size(0) = 7"));
}

TEST_F(Triage, AMemoryFaultOfTheReferenceOrTheRefereeIsNoFinding) {
  for (const Stage stage : {Stage::kReference, Stage::kReferee, Stage::kMaterialise}) {
    CaseResult result = died(SIGSEGV, stage, stage == Stage::kReferee);
    result.death->memory = MemoryFault{};
    EXPECT_EQ(judge(tied_case(2, 3), result).status, VerdictStatus::kSkip) << stage_name(stage);
  }
}

TEST(FindingRank, FaultsLeadAndWithinASectionWhatKillsTheProcess) {
  const auto rank = [](VerdictClass cls, bool fault) { return finding_rank(failed("s", fault, cls)); };
  EXPECT_LT(rank(VerdictClass::kCrash, true), rank(VerdictClass::kWrongResult, true));
  EXPECT_LT(rank(VerdictClass::kRejectsLegal, true), rank(VerdictClass::kCrash, false));
  EXPECT_LT(rank(VerdictClass::kMemoryFault, false), rank(VerdictClass::kAcceptsIllegal, false));
}

TEST(FindingKey, KeepsSectionAndClassApart) {
  EXPECT_NE(finding_key(failed("s", true)), finding_key(failed("s", false)));
  EXPECT_NE(finding_key(failed("s", true)), finding_key(failed("s", true, VerdictClass::kUnstable)));
}

}  // namespace
}  // namespace aotifuzz
