#include "oracles/memory_oracle.h"

#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

MemoryFault damage(MemoryFault::Place place) {
  MemoryFault fault;
  fault.access = MemoryFault::Access::kWrite;
  fault.place = place;
  fault.buffer_known = true;
  fault.bytes = 40;
  return fault;
}

TEST(MemoryOracle, DamageInEitherRunOfThePackageIsAFault) {
  for (const bool later : {false, true}) {
    Scenario scenario = make_scenario();
    (later ? scenario.again : scenario.subject).damage = {damage(MemoryFault::Place::kPastEnd)};
    const Verdict verdict = scenario.verdict(MemoryOracle());
    EXPECT_EQ(verdict.status, VerdictStatus::kFail);
    EXPECT_EQ(verdict.cls, VerdictClass::kMemoryFault);
    EXPECT_TRUE(verdict.fault);
    EXPECT_EQ(verdict.signature, "memory-fault write past end of intermediate");
  }
}

TEST(MemoryOracle, OneVerdictForEachKindOfDamage) {
  Scenario scenario = make_scenario();
  scenario.subject.damage = {damage(MemoryFault::Place::kPastEnd), damage(MemoryFault::Place::kPastEnd),
                             damage(MemoryFault::Place::kAfterFree)};
  scenario.again.damage = {damage(MemoryFault::Place::kPastEnd)};
  EXPECT_EQ(scenario.judge(MemoryOracle()).verdicts.size(), 2u);
}

TEST(MemoryOracle, OutsideTheContractItIsAGap) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
  scenario.subject.damage = {damage(MemoryFault::Place::kBeforeStart)};
  const Verdict verdict = scenario.verdict(MemoryOracle());
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.signature, "memory-fault write before start of intermediate, breaks x.size(0) <= 4");
}

TEST(MemoryOracle, DamageCountsWhereTheRunWasRefused) {
  Scenario scenario = make_scenario();
  scenario.subject.outcome.kind = OutcomeKind::kRejected;
  EXPECT_EQ(scenario.verdict(MemoryOracle()).status, VerdictStatus::kSkip);
  scenario.subject.damage = {damage(MemoryFault::Place::kPastEnd)};
  EXPECT_EQ(scenario.verdict(MemoryOracle()).status, VerdictStatus::kFail);
}

}  // namespace
}  // namespace aotifuzz
