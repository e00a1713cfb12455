#include "core/memory_fault.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace aotifuzz {
namespace {

using Access = MemoryFault::Access;
using Place = MemoryFault::Place;

/// On zeroed memory, as the parent makes it.
class MemoryFaultTest : public ::testing::Test {
 protected:
  MemoryFaultTest()
      : memory_(std::calloc(1, sizeof(FlightRecorder)), &std::free), recorder(*new (memory_.get()) FlightRecorder) {}
  void die(Access access, Place place, int slot, uint64_t distance) {
    recorder.fault.guarded = 1;
    recorder.fault.access = static_cast<int32_t>(access);
    recorder.fault.place = static_cast<int32_t>(place);
    recorder.fault.slot = slot;
    recorder.fault.distance = distance;
  }
  AllocationEntry& buffer(int slot, BufferRole role, const char* name) {
    AllocationEntry& entry = recorder.allocations[slot];
    entry.bytes = 120;
    entry.serial = 3;
    entry.state = AllocationEntry::kLive;
    entry.stage = static_cast<int32_t>(Stage::kSubject);
    entry.role = role;
    std::strcpy(entry.name, name);
    return entry;
  }
  std::unique_ptr<void, decltype(&std::free)> memory_;
  FlightRecorder& recorder;
};

TEST_F(MemoryFaultTest, NothingIsRecordedUntilSomethingFaults) {
  EXPECT_FALSE(recorded_memory_fault(recorder));
  EXPECT_EQ(recorded_kernel(recorder), "");
  EXPECT_EQ(recorded_stack(recorder), "");
}

TEST_F(MemoryFaultTest, SaysWhatWasTouchedWhereAndByWhom) {
  buffer(5, BufferRole::kInput, "idx");
  std::strcpy(recorder.kernels[1], "cpp_fused_add_0");
  recorder.call_kernels[0] = 1;
  recorder.calls = recorder.call_running = 1;
  die(Access::kRead, Place::kPastEnd, 5, 16);
  const auto fault = recorded_memory_fault(recorder);
  ASSERT_TRUE(fault);
  EXPECT_EQ(memory_fault_key(*fault), "read past end of input idx");
  EXPECT_EQ(memory_fault_sentence(*fault), "reads 16 bytes past the end of input idx (120 bytes)");
  EXPECT_EQ(fault->kernel, "cpp_fused_add_0");
  EXPECT_EQ(fault->call, 1);
}

TEST_F(MemoryFaultTest, AnIntermediateIsNumberedAndSaysWhenItWasAllocatedAndFreed) {
  AllocationEntry& entry = buffer(0, BufferRole::kOther, "");
  entry.state = AllocationEntry::kFreed;
  entry.allocated_call = 0;
  entry.freed_call = 2;
  die(Access::kWrite, Place::kAfterFree, 0, 8);
  const auto fault = recorded_memory_fault(recorder);
  ASSERT_TRUE(fault);
  EXPECT_EQ(memory_fault_key(*fault), "write after free of intermediate");
  EXPECT_EQ(memory_fault_sentence(*fault),
            "writes at byte 8 of an intermediate or output (buffer 3 of the run, 120 bytes) after it was freed");
  EXPECT_EQ(fault->allocated, "before the first kernel call");
  EXPECT_EQ(fault->freed, "after kernel call 2");
}

TEST_F(MemoryFaultTest, WhateverADyingProcessLeavesIsReadSafely) {
  std::memset(recorder.allocations[0].name, 'n', sizeof(recorder.allocations[0].name));
  recorder.allocations[0].state = AllocationEntry::kLive;
  std::memset(recorder.fault.stack_text, 's', sizeof(recorder.fault.stack_text));
  std::memset(recorder.kernels, 'k', sizeof(recorder.kernels));
  std::memset(recorder.call_kernels, 0xFF, sizeof(recorder.call_kernels));
  recorder.call_running = 1;
  for (const int32_t odd : {-1, 0, 1, 1 << 30, INT32_MIN, INT32_MAX}) {
    recorder.calls = odd;
    die(static_cast<Access>(odd), static_cast<Place>(odd), odd, UINT64_MAX);
    const auto fault = recorded_memory_fault(recorder);
    ASSERT_TRUE(fault);
    EXPECT_NE(memory_fault_key(*fault), "");
    EXPECT_NE(memory_fault_sentence(*fault), "");
  }
  EXPECT_EQ(recorded_buffer(recorder, 0).name.size(), AllocationEntry::kNameMax);
  EXPECT_EQ(recorded_stack(recorder).size(), FaultEntry::kStackTextMax);
}

class MemoryFaultVerdict : public ::testing::Test {
 protected:
  MemoryFaultVerdict() {
    fault_.buffer_known = true;
    fault_.access = Access::kRead;
    fault_.role = BufferRole::kInput;
    fault_.name = "idx";
    fault_.bytes = 24;
  }
  const std::vector<Violation> none_;
  const std::vector<Violation> broken_ = {
      {Condition::Kind::kSize, 0, "x.size(2) == 16", "x.size(2) = 3"},
      {Condition::Kind::kSize, -1, "idx.size(1) == x.size(1)", "idx.size(1) = 3, x.size(1) = 500"}};
  MemoryFault fault_;
};

TEST_F(MemoryFaultVerdict, IsAFaultOnLegalInput) {
  const Verdict verdict = memory_fault_verdict(fault_, {none_, true, true});
  EXPECT_EQ(verdict.status, VerdictStatus::kFail);
  EXPECT_EQ(verdict.cls, VerdictClass::kMemoryFault);
  EXPECT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.signature, "memory-fault read past end of input idx");
}

TEST_F(MemoryFaultVerdict, IsAGapThatNamesTheConditionOfTheTouchedInputWithItsNumbers) {
  const Verdict verdict = memory_fault_verdict(fault_, {broken_, true, true});
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.signature, "memory-fault read past end of input idx, breaks idx.size(1) == x.size(1)");
  EXPECT_NE(verdict.reason.find("idx.size(1) = 3, x.size(1) = 500"), std::string::npos) << verdict.reason;
  fault_.name = "other";
  EXPECT_EQ(memory_fault_verdict(fault_, {broken_, true, true}).signature,
            "memory-fault read past end of input other, breaks x.size(2) == 16");
}

TEST_F(MemoryFaultVerdict, IsAGapWhereTheReferenceRaisesAndWhereThereIsNone) {
  EXPECT_TRUE(memory_fault_verdict(fault_, {none_, true, true}).fault);
  EXPECT_FALSE(memory_fault_verdict(fault_, {none_, true, false}).fault);
  const Verdict unknown = memory_fault_verdict(fault_, {none_, false, false});
  EXPECT_FALSE(unknown.fault);
  EXPECT_NE(unknown.reason.find("nobody knows whether the input is legal"), std::string::npos);
}

TEST_F(MemoryFaultVerdict, SignaturesHaveNoSizesDistancesOrKernels) {
  const std::string before = memory_fault_verdict(fault_, {none_, true, true}).signature;
  fault_.distance = 4711;
  fault_.bytes = 815;
  fault_.kernel = "cpp_fused_7";
  fault_.call = 3;
  EXPECT_EQ(memory_fault_verdict(fault_, {none_, true, true}).signature, before);
}

TEST_F(MemoryFaultVerdict, AReadOfUnwrittenMemoryIsNamedAfterWhereItShows) {
  const Verdict verdict = unwritten_read_verdict("output 0 aten.add.Tensor", {none_, true, true});
  EXPECT_EQ(verdict.cls, VerdictClass::kMemoryFault);
  EXPECT_EQ(verdict.signature, "memory-fault read of memory never written, output 0 aten.add.Tensor");
}

}  // namespace
}  // namespace aotifuzz
