#include "oracles/stable_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

TEST(StableOracle, OneBitIsEnough) {
  Scenario scenario = make_scenario();
  scenario.again.outputs[3][0][0].mul_(1 + 0x1p-23f);
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kFail);
}

TEST(StableOracle, OneRunThatRefusesIsUnstable) {
  Scenario scenario = make_scenario();
  scenario.again.outcome.kind = OutcomeKind::kRejected;
  EXPECT_EQ(scenario.verdict(StableOracle()).signature, "unstable the outcome");
}

TEST(StableOracle, InputsLeftDifferentAreUnstable) {
  Scenario scenario = make_scenario();
  scenario.again.inputs_after[2][0] = 5;
  EXPECT_EQ(scenario.verdict(StableOracle()).signature, "unstable input m afterwards");
}

TEST(StableOracle, WorksWithoutAReference) {
  Scenario scenario = make_scenario();
  scenario.has_reference = false;
  scenario.again.outputs[0][0] = 5;
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kFail);
}

TEST(StableOracle, IllegalInputsAreNotItsBusiness) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", ""});
  scenario.again.outputs[0][0] = 5;
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kSkip);
}

/// A package whose first output is what memory holds: changes with the pattern of each run.
void fill_dependent(RunRecord& record) {
  if (record.request.kind == RunKind::kSubjectAgain) record.outputs[0][0] = memory_of(record.request).pattern + 0.5;
}

TEST(StableOracle, WhatDependsOnThePatternAloneIsAReadOfUnwrittenMemory) {
  Scenario scenario = make_scenario();
  scenario.change_referee = fill_dependent;
  fill_dependent(scenario.again);
  scenario.subject.outputs[0][0] = 0.5;
  const Verdict verdict = scenario.verdict(StableOracle());
  EXPECT_EQ(verdict.cls, VerdictClass::kMemoryFault);
  EXPECT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.oracle, "stable");
  EXPECT_EQ(verdict.signature, "memory-fault read of memory never written, output 0 aten.sum.dim_IntList");
  scenario.has_reference = false;
  EXPECT_EQ(scenario.verdict(StableOracle()).cls, VerdictClass::kMemoryFault);
}

TEST(StableOracle, UnwrittenMemoryReadOnIllegalInputIsAGap) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", ""});
  scenario.change_referee = fill_dependent;
  fill_dependent(scenario.again);
  scenario.subject.outputs[0][0] = 0.5;
  const Verdict verdict = scenario.verdict(StableOracle());
  EXPECT_EQ(verdict.cls, VerdictClass::kMemoryFault);
  EXPECT_FALSE(verdict.fault);
}

TEST(StableOracle, WhatChangesWithThePatternAndByItselfIsUnstable) {
  Scenario scenario = make_scenario();
  int runs = 0;
  scenario.change_referee = [&runs](RunRecord& record) {
    if (record.request.kind == RunKind::kSubjectAgain) record.outputs[0][0] = ++runs;
  };
  scenario.again.outputs[0][0] = 100;
  EXPECT_EQ(scenario.verdict(StableOracle()).cls, VerdictClass::kUnstable);
}

TEST(StableOracle, WhatDependsOnWhereBuffersLieAloneIsRounding) {
  Scenario scenario = make_scenario();
  scenario.change_referee = [](RunRecord& record) {
    if (memory_of(record.request).at_start) record.outputs[0][0].mul_(1 + 0x1p-23f);
  };
  scenario.change_referee(scenario.again);
  EXPECT_EQ(scenario.verdict(StableOracle()).status, VerdictStatus::kPass);
}

TEST(StableOracle, MemoryOfRunsIsNamedByTheirRequests) {
  EXPECT_EQ(memory_of({RunKind::kSubject, 0}), RunMemory{});
  for (int pattern = 0; pattern < kPoisonPatterns; ++pattern)
    for (const bool at_start : {false, true})
      for (const uint64_t repetition : {0, 1, 2}) {
        const RunRequest request = subject_with({pattern, at_start}, repetition);
        EXPECT_EQ(memory_of(request).pattern, pattern);
        EXPECT_EQ(memory_of(request).at_start, at_start);
        EXPECT_GE(request.seed, kChosenMemory);
      }
  const RunMemory again = memory_of({RunKind::kSubjectAgain, 1});
  EXPECT_TRUE(again.at_start) << "every case with two runs looks at both ends of its buffers";
  EXPECT_NE(again.pattern, 0);
}

TEST(StableOracle, PlansAsManyRunsAsTheCaseAsksFor) {
  Scenario scenario = make_scenario();
  const CaseContext context{.input = scenario.input,
                            .contract = scenario.contract,
                            .violations = scenario.violations,
                            .facts = scenario.facts,
                            .has_reference = false,
                            .inputs_before = scenario.inputs};
  scenario.input.runs = 3;
  EXPECT_EQ(StableOracle().plan(context).size(), 3u);
  scenario.input.runs = 1;
  EXPECT_TRUE(StableOracle().plan(context).empty());
}

}  // namespace
}  // namespace aotifuzz
