#include "oracles/sequence_oracle.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

Judgement judge(const Scenario& scenario) { return scenario.judge(SequenceOracle()); }

TEST(SequenceOracle, IsPlannedForFurtherCallsAndCallersOnly) {
  Scenario scenario = make_scenario();
  const auto kinds = [&] {
    std::vector<RunKind> out;
    const CaseContext context{.input = scenario.input,
                              .contract = scenario.contract,
                              .violations = scenario.violations,
                              .facts = scenario.facts,
                              .inputs_before = scenario.inputs};
    for (const RunRequest& request : SequenceOracle().plan(context)) out.push_back(request.kind);
    return out;
  };
  const std::vector<RunKind> once = {RunKind::kReference, RunKind::kSubject, RunKind::kSubjectAgain};
  std::vector<RunKind> then = once, callers = once;
  then.push_back(RunKind::kSubjectThen);
  callers.push_back(RunKind::kSubjectCallers);
  EXPECT_EQ(kinds(), then);
  scenario.input.then.clear();
  EXPECT_TRUE(kinds().empty());
  scenario.input.callers = 2;
  EXPECT_EQ(kinds(), callers);
}

TEST(SequenceOracle, AnotherBitAfterOtherCallsIsUnstable) {
  Scenario scenario = make_scenario();
  scenario.then = testing::copy_of(scenario.subject, scenario.subject.request);
  scenario.then->outputs[0].view({-1})[1].mul_(1 + 0x1p-23);
  const Verdict verdict = judge(scenario).verdicts.at(0);
  ASSERT_EQ(verdict.status, VerdictStatus::kFail) << verdict.reason;
  EXPECT_EQ(verdict.cls, VerdictClass::kUnstable);
  EXPECT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.signature, "unstable after other calls: output 0 aten.sum.dim_IntList");
}

TEST(SequenceOracle, ARefusalAfterOtherCallsIsUnstableAndSaysItsWords) {
  Scenario scenario = make_scenario();
  scenario.then = testing::copy_of(scenario.subject, scenario.subject.request);
  scenario.then->outcome = {OutcomeKind::kRejected, Stage::kSubjectAgain, "the pool is closed"};
  scenario.then->outputs.clear();
  const Verdict verdict = judge(scenario).verdicts.at(0);
  ASSERT_EQ(verdict.status, VerdictStatus::kFail) << verdict.reason;
  EXPECT_EQ(verdict.signature, "unstable after other calls: the outcome");
  EXPECT_EQ(verdict.measures.at(0).second, "the pool is closed");
}

TEST(SequenceOracle, CallersAreJudgedApartAndOnlyWhereCallsInTurnAreRight) {
  Scenario scenario = make_scenario();
  scenario.input.callers = 2;
  EXPECT_EQ(judge(scenario).verdicts.size(), 1u);
  scenario.callers = testing::copy_of(scenario.subject, scenario.subject.request);
  scenario.callers->outputs[5].view({-1})[3].add_(1);
  ASSERT_EQ(judge(scenario).verdicts.size(), 2u);
  EXPECT_EQ(judge(scenario).verdicts[0].status, VerdictStatus::kPass);
  EXPECT_EQ(judge(scenario).verdicts[1].signature, "unstable several callers: output 5 aten.add.Tensor");
  scenario.then = scenario.callers;
  ASSERT_EQ(judge(scenario).verdicts.size(), 1u);
  EXPECT_EQ(judge(scenario).verdicts[0].signature, "unstable after other calls: output 5 aten.add.Tensor");
}

TEST(SequenceOracle, WhatDiffersWithNothingInBetweenIsLeftToTheStableOracle) {
  Scenario scenario = make_scenario();
  scenario.then = testing::copy_of(scenario.subject, scenario.subject.request);
  scenario.then->outputs[0].view({-1})[1].add_(1);
  scenario.repetition = scenario.then;
  const Verdict verdict = judge(scenario).verdicts.at(0);
  EXPECT_EQ(verdict.status, VerdictStatus::kSkip);
  EXPECT_EQ(verdict.reason, "two runs with nothing in between differ too");
}

TEST(SequenceOracle, ARunThatWasNotMadeOrIsShortOfMemoryIsSkippedWithTheReason) {
  Scenario scenario = make_scenario();
  scenario.then = testing::copy_of(scenario.subject, scenario.subject.request);
  scenario.then->outputs.clear();
  scenario.then->not_made = "further call 1: the reference does not finish on it";
  EXPECT_EQ(judge(scenario).verdicts.at(0).reason, scenario.then->not_made);
  scenario.then->not_made.clear();
  scenario.then->outcome.kind = OutcomeKind::kOutOfMemory;
  EXPECT_EQ(judge(scenario).verdicts.at(0).reason, "out-of-memory");
}

}  // namespace
}  // namespace aotifuzz
