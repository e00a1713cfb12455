#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/gate/served.h"
#include "tests/support/fake_device.h"

namespace aotifuzz {
namespace {

using test::FakeDevice;
using test::FakeRuntime;
using test::kinds;
using test::library;
using test::Said;
using test::serve;
using test::written;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

/// right::norm on a device that is lost so in the third run of each process.
GateOperator judged_on(FakeDevice* device, const std::string& name = "right::norm",
                       const std::string& spec_line = "right::norm x=f32[B,4]\n") {
  const std::string spec = written("device.spec", spec_line);
  const Said said = serve({.ops = library("gate_right_ops"), .spec = spec, .only = {name}, .device = device});
  std::filesystem::remove(spec);
  EXPECT_EQ(said.exit_code, 0) << said.last.what;
  return said.operators.count(name) ? said.operators.at(name) : GateOperator();
}

FakeDevice lost_in_the_third_run(const std::string& error, bool outside_buffers) {
  FakeDevice device;
  device.opened = [=](FlightRecorder*, const GateDevice::Lost& lost) {
    auto runtime = std::make_unique<FakeRuntime>();
    runtime->at_end = [=](int run) {
      if (run == 3) lost(error, outside_buffers);
    };
    return runtime;
  };
  return device;
}

TEST(GateServerDevice, ThatWorksChangesNothing) {
  FakeDevice device;
  const GateOperator op = judged_on(&device);
  EXPECT_TRUE(op.is_through());
  EXPECT_GT(op.points, 10);
  EXPECT_TRUE(op.findings.empty());
  EXPECT_EQ(op.not_judged, "");
}

TEST(GateServerDevice, ThatCannotBeUsedEndsTheGateBeforeALibraryIsLoaded) {
  FakeDevice device;
  device.opened = [](FlightRecorder*, const GateDevice::Lost&) -> std::unique_ptr<DeviceRuntime> {
    throw HarnessError("there is no device", "fake:0", "plug one in");
  };
  const Said said = serve({.ops = "missing.so", .device = &device});
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_EQ(said.last.kind, GateMessage::Kind::kFatal);
  EXPECT_EQ(said.last.what, "there is no device");
  EXPECT_EQ(said.last.where, "fake:0");
  EXPECT_EQ(said.last.to_do, "plug one in");
  device.opened = [](FlightRecorder*, const GateDevice::Lost&) -> std::unique_ptr<DeviceRuntime> { _exit(77); };
  const Said dead = serve({.ops = library("gate_right_ops"), .device = &device});
  EXPECT_EQ(dead.exit_code, 3);
  EXPECT_THAT(dead.last.what, HasSubstr("dies"));
}

TEST(GateServerDevice, IsOpenedInNoProcessThatForks) {
  const pid_t here = getpid();
  FakeDevice device;
  device.opened = [here](FlightRecorder*, const GateDevice::Lost&) {
    // serve() forks the server, which forks those that open a device.
    if (getppid() == here || getpid() == here) _exit(77);
    return std::make_unique<FakeRuntime>();
  };
  EXPECT_GT(judged_on(&device).points, 10);
}

TEST(GateServerDevice, ThatIsLostIsAResultAndAnotherProcessGoesOn) {
  FakeDevice device = lost_in_the_third_run("illegal memory access", true);
  const GateOperator op = judged_on(&device);
  EXPECT_TRUE(op.is_through());
  EXPECT_GT(op.findings.size(), 1u) << "of several processes";
  EXPECT_THAT(kinds(op), Each(std::string("kernel-overruns")));
  for (const GateFinding& finding : op.findings) {
    EXPECT_THAT(finding.message, HasSubstr("outside every buffer: illegal memory access on fake:0"));
    EXPECT_NE(finding.sizes, "");
    EXPECT_FALSE(finding.precondition) << "the spec calls its arguments legal";
  }
  FakeDevice asserting = lost_in_the_third_run("device-side assert", false);
  const GateOperator asserted = judged_on(&asserting);
  EXPECT_THAT(kinds(asserted), Contains("kernel-crashes"));
  EXPECT_THAT(asserted.findings.front().message, HasSubstr("an error of the device: device-side assert"));
}

TEST(GateServerDevice, DamageNamesTheBuffer) {
  FakeDevice device;
  device.opened = [](FlightRecorder* recorder, const GateDevice::Lost& lost) {
    auto runtime = std::make_unique<FakeRuntime>();
    runtime->at_end = [=](int run) {
      if (run != 3) return;
      AllocationEntry& entry = recorder->device_allocations[5];
      entry.bytes = 28;
      entry.state = AllocationEntry::kLive;
      entry.role = BufferRole::kInput;
      entry.name[0] = 'x';
      recorder->fault.guarded = recorder->fault.on_device = 1;
      recorder->fault.slot = 5;
      recorder->fault.access = static_cast<int32_t>(MemoryFault::Access::kWrite);
      lost("write past the end of a buffer", true);
    };
    return runtime;
  };
  const GateOperator op = judged_on(&device);
  ASSERT_FALSE(op.findings.empty());
  EXPECT_EQ(op.findings.front().kind, "kernel-overruns");
  EXPECT_EQ(op.findings.front().message, "the kernel writes the first byte past the end of input x (28 bytes)");
}

TEST(GateServerDevice, OperatorsWithoutAKernelForItAreNotJudged) {
  FakeDevice device;
  device.kernels = c10::DispatchKey::CUDA;
  const GateOperator op = judged_on(&device, "right::scale", "right::scale x=f32[B,4]\n");
  EXPECT_THAT(op.not_judged, HasSubstr("no CUDA kernel"));
  EXPECT_TRUE(op.findings.empty());
}

}  // namespace
}  // namespace aotifuzz
