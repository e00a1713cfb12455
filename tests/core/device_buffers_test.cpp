#include "core/device_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace aotifuzz {
namespace {

using Access = MemoryFault::Access;
using Place = MemoryFault::Place;

std::unique_ptr<FlightRecorder> recorder() { return std::make_unique<FlightRecorder>(); }

void put(FlightRecorder& recorder, int slot, uint64_t address, uint64_t bytes, BufferRole role, const char* name,
         int32_t state = AllocationEntry::kLive) {
  AllocationEntry& entry = recorder.device_allocations[slot];
  entry.address = address;
  entry.bytes = bytes;
  entry.serial = static_cast<uint32_t>(slot + 1);
  entry.role = role;
  entry.state = state;
  entry.stage = static_cast<int32_t>(Stage::kSubject);
  std::strcpy(entry.name, name);
}

std::unique_ptr<FlightRecorder> launch_of_two() {
  auto out = recorder();
  std::memset(static_cast<void*>(out->device_allocations), 0, sizeof(out->device_allocations));
  put(*out, 0, 0x4800000000, 1792, BufferRole::kInput, "x");
  put(*out, 1, 0x4900000000, 96, BufferRole::kInput, "idx");
  put(*out, 2, 0x4900000400, 64, BufferRole::kOther, "");
  put(*out, 3, 0x4a00000000, 512, BufferRole::kOther, "", AllocationEntry::kFreed);
  out->call_words[0] = 0x4900000000;
  out->call_words[1] = 0x4800000010;
  out->calls = 1;
  out->call_running = 1;
  return out;
}

TEST(DeviceBuffers, TheTableSaysWhatTheLaunchWasGiven) {
  const auto buffers = recorded_device_buffers(*launch_of_two());
  ASSERT_EQ(buffers.size(), 4u);
  EXPECT_TRUE(buffers[0].is_argument);
  EXPECT_TRUE(buffers[1].is_argument);
  EXPECT_FALSE(buffers[2].is_argument);
  EXPECT_EQ(memory_buffer_text(buffers[1].buffer), "input idx (96 bytes)");
}

TEST(DeviceBuffers, AnAddressIsExplainedByTheArgumentOfTheLaunchRatherThanByANearerBlock) {
  const auto buffers = recorded_device_buffers(*launch_of_two());
  const auto fault = fault_near(buffers, 0x4900000000 + 1000, Access::kRead);
  ASSERT_TRUE(fault);
  EXPECT_EQ(memory_fault_sentence(*fault), "reads 904 bytes past the end of input idx (96 bytes)");
  const auto before = fault_near(buffers, 0x4800000000 - 8, Access::kWrite);
  ASSERT_TRUE(before);
  EXPECT_EQ(memory_fault_sentence(*before), "writes 8 bytes before the start of input x (1792 bytes)");
}

TEST(DeviceBuffers, FreedMemoryIsNamedWhenTheAddressLiesInIt) {
  const auto fault = fault_near(recorded_device_buffers(*launch_of_two()), 0x4a00000008, Access::kRead);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->place, Place::kAfterFree);
  EXPECT_EQ(fault->distance, 8u);
}

TEST(DeviceBuffers, NullIsTheAddressOfAnEmptyTensor) {
  const auto fault = fault_near(recorded_device_buffers(*launch_of_two()), 16, Access::kRead);
  ASSERT_TRUE(fault);
  EXPECT_EQ(memory_fault_sentence(*fault), "reads through the null pointer of an empty tensor");
  EXPECT_EQ(memory_fault_key(*fault), "read through null");
}

TEST(DeviceBuffers, WhatIsFarFromEverythingIsNoBuffers) {
  EXPECT_FALSE(fault_near(recorded_device_buffers(*launch_of_two()), 0x7fff'0000'0000'0000, Access::kRead));
  EXPECT_FALSE(fault_near({}, 0x4800000000, Access::kRead));
}

}  // namespace
}  // namespace aotifuzz
