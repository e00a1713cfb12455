#include "campaign/audit_trial.h"

#include <gtest/gtest.h>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using Answer = AuditTrial::Answer;

AuditTrial tried(const CaseResult& result, ChecksMode checks = ChecksMode::kOff, Case* ran = nullptr) {
  const Contract contract = tied_contract();
  FakeExecutor executor([&](const Case&) { return result; });
  const AuditTrial trial = try_case({contract}, executor, tied_case(2, 3), checks);
  if (ran) *ran = executor.ran.front();
  return trial;
}

CaseResult refused() {
  CaseResult result = reported({passed()});
  result.report->runs[0].outcome.kind = OutcomeKind::kRejected;
  return result;
}

TEST(AuditTrial, WhatPassesIsRightAndWhatFailsIsHarm) {
  EXPECT_EQ(tried(reported({passed()})).answer, Answer::kRight);
  const AuditTrial harm = tried(reported({passed(), failed("wrong")}));
  EXPECT_EQ(harm.answer, Answer::kHarm);
  EXPECT_EQ(harm.harm->signature, "wrong");
  EXPECT_EQ(tried(died(11)).answer, Answer::kHarm);
}

TEST(AuditTrial, TheWorstHarmIsNamed) {
  EXPECT_EQ(tried(reported({failed("a"), failed("b", true, VerdictClass::kMemoryFault)})).harm->signature, "b");
}

TEST(AuditTrial, ARefusalIsNoHarmUnlessItLeavesSomethingBehind) {
  EXPECT_EQ(tried(refused()).answer, Answer::kRefused);
  CaseResult strict = refused();
  strict.report->verdicts = {failed("x", false, VerdictClass::kRejectsLegal)};
  EXPECT_EQ(tried(strict).answer, Answer::kRefused);
  CaseResult changed = refused();
  changed.report->verdicts = {failed("input x by a refused call", false, VerdictClass::kInputChanged)};
  EXPECT_EQ(tried(changed).answer, Answer::kHarm);
}

TEST(AuditTrial, WhatIsAcceptedAndRightByChanceIsRight) {
  EXPECT_EQ(tried(reported({failed("x.size(0) <= 4 lucky", false, VerdictClass::kAcceptsIllegal)})).answer,
            Answer::kRight);
  EXPECT_EQ(tried(reported({failed("x.size(0) <= 4 silent", false, VerdictClass::kAcceptsIllegal)})).answer,
            Answer::kHarm);
}

TEST(AuditTrial, WhatNobodyJudgedIsNotRight) {
  Verdict skip;
  skip.oracle = "close";
  skip.status = VerdictStatus::kSkip;
  skip.reason = "reference crashed";
  const AuditTrial trial = tried(reported({skip}));
  EXPECT_EQ(trial.answer, Answer::kNotJudged);
  EXPECT_EQ(trial.reason, "reference crashed");
  EXPECT_EQ(tried(died(11, Stage::kReference, false)).answer, Answer::kNotJudged);
  CaseResult memory = reported({passed()});
  memory.report->runs[0].outcome.kind = OutcomeKind::kOutOfMemory;
  EXPECT_EQ(tried(memory).answer, Answer::kNotJudged);
}

TEST(AuditTrial, TheModeIsTheAuditsAndNotTheCases) {
  Case ran;
  tried(reported({passed()}), ChecksMode::kOn, &ran);
  EXPECT_TRUE(ran.input_checks);
  tried(reported({passed()}), ChecksMode::kOff, &ran);
  EXPECT_FALSE(ran.input_checks);
}

}  // namespace
}  // namespace aotifuzz
