#include "oracles/metadata_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

TEST(MetadataOracle, NamesWhatIsWrong) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[5] = scenario.subject.outputs[5].to(at::kFloat);
  const Verdict verdict = scenario.verdict(MetadataOracle());
  EXPECT_EQ(verdict.signature, "wrong-metadata output 5 dtype aten.add.Tensor");
  ASSERT_EQ(verdict.measures.size(), 3u);
  EXPECT_EQ(verdict.measures[1].second, "i64");
  EXPECT_EQ(verdict.measures[2].second, "f32");
}

TEST(MetadataOracle, SharedMemoryBetweenOutputsIsDoubt) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[1] = scenario.subject.outputs[0];
  const Verdict verdict = scenario.verdict(MetadataOracle());
  EXPECT_EQ(verdict.status, VerdictStatus::kMistrusted);
  EXPECT_EQ(verdict.reason, "outputs share memory");
}

TEST(MetadataOracle, OutputThatIsAViewOfAnInputInEagerMayShareItsMemory) {
  Scenario scenario = make_scenario();
  scenario.reference.outputs[3] = scenario.reference.inputs_after[0];
  scenario.subject.outputs[3] = scenario.subject.inputs_after[0];
  EXPECT_EQ(scenario.verdict(MetadataOracle()).status, VerdictStatus::kPass);
}

TEST(MetadataOracle, NeighboursInOneStorageDoNotShareMemory) {
  Scenario scenario = make_scenario();
  const at::Tensor block = at::zeros({10});
  block.copy_(at::cat({scenario.subject.outputs[0], scenario.subject.outputs[1]}));
  scenario.subject.outputs[0] = block.slice(0, 0, 5);
  scenario.subject.outputs[1] = block.slice(0, 5, 10);
  EXPECT_EQ(scenario.verdict(MetadataOracle()).status, VerdictStatus::kPass);
}

TEST(MetadataOracle, TheDeviceIsWhereTheRunLeftAnOutputNotWhereItsCopyLies) {
  Scenario scenario = make_scenario();
  scenario.reference.output_devices.assign(scenario.reference.outputs.size(), c10::Device(c10::kCUDA, 0));
  scenario.subject.output_devices = scenario.reference.output_devices;
  EXPECT_EQ(scenario.verdict(MetadataOracle()).status, VerdictStatus::kPass);
  scenario.subject.output_devices[1] = c10::kCPU;
  const Verdict verdict = scenario.verdict(MetadataOracle());
  EXPECT_EQ(verdict.cls, VerdictClass::kWrongMetadata);
  EXPECT_EQ(verdict.measures[1].second, "cuda:0");
  EXPECT_EQ(verdict.measures[2].second, "cpu");
}

TEST(MetadataOracle, NoneAgainstATensorFails) {
  Scenario scenario = make_scenario();
  scenario.subject.outputs[2] = at::Tensor();
  EXPECT_EQ(scenario.verdict(MetadataOracle()).cls, VerdictClass::kWrongMetadata);
}

}  // namespace
}  // namespace aotifuzz
