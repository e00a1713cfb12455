#include "campaign/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/error.h"
#include "tests/campaign/fake_worker.h"

namespace aotifuzz {
namespace {

using test::fake_worker;
using test::sized_case;
using ::testing::HasSubstr;

std::string error_of(const std::string& mode) {
  WorkerOptions options = fake_worker(mode);
  options.start_timeout = std::chrono::milliseconds(300);
  WorkerProcess worker(options);
  try {
    worker.start();
  } catch (const HarnessError& error) {
    return error.what();
  }
  return "";
}

TEST(WorkerProcess, SaysHelloAndRunsCases) {
  WorkerProcess worker(fake_worker("serve"));
  EXPECT_EQ(worker.start().torch_version, "2.11.0");
  for (int i = 0; i < 50; ++i) {
    const CaseResult result = worker.run(sized_case(test::kPass));
    ASSERT_TRUE(result.report);
    EXPECT_EQ(result.fresh_child, i == 0);
  }
  EXPECT_EQ(worker.counters().children, 1u);
  EXPECT_EQ(worker.counters().starts, 1u);
}

TEST(WorkerProcess, TellsASignalWithWhatTheRecorderKnew) {
  WorkerProcess worker(fake_worker("serve"));
  const CaseResult result = worker.run(sized_case(test::kSegfault));
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kSignal);
  EXPECT_EQ(result.death->signal, SIGSEGV);
  EXPECT_EQ(result.death->stage, Stage::kSubject);
  EXPECT_EQ(result.death->step, "cpp_fused_add_0");
  EXPECT_TRUE(result.death->reference_accepts);
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  EXPECT_EQ(worker.counters().starts, 1u) << "a child's death must not cost a start of the program";
}

TEST(WorkerProcess, EndsAHangAndGoesOn) {
  WorkerProcess worker(fake_worker("serve"));
  const CaseResult result = worker.run(sized_case(test::kHang));
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kHang);
  EXPECT_EQ(result.death->stage, Stage::kSubject);
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
}

TEST(WorkerProcess, PatienceLetsASlowCaseEnd) {
  WorkerProcess worker(fake_worker("serve"));
  EXPECT_TRUE(worker.run(sized_case(test::kSlow)).death);
  worker.set_patience(5);
  EXPECT_TRUE(worker.run(sized_case(test::kSlow)).report);
}

TEST(WorkerProcess, AKillThatIsNotOursIsOutOfMemory) {
  WorkerProcess worker(fake_worker("serve"));
  const CaseResult result = worker.run(sized_case(test::kKilled));
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kOutOfMemory);
}

TEST(WorkerProcess, KeepsTheLastWordsOfTheCase) {
  WorkerProcess worker(fake_worker("serve"));
  const CaseResult result = worker.run(sized_case(test::kAbort));
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->signal, SIGABRT);
  EXPECT_THAT(result.death->last_words, HasSubstr("free(): invalid pointer"));
  const CaseResult next = worker.run(sized_case(test::kSegfault));
  ASSERT_TRUE(next.death);
  EXPECT_EQ(next.death->last_words, "") << "words of an earlier case are not this one's";
}

TEST(WorkerProcess, ADeathBetweenCasesIsNotTheNextCasesFault) {
  WorkerProcess worker(fake_worker("serve"));
  EXPECT_TRUE(worker.run(sized_case(test::kReportThenDie)).report);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  EXPECT_EQ(worker.counters().deaths, 1u);
}

TEST(WorkerProcess, APlannedEndIsNoDeath) {
  WorkerProcess worker(fake_worker("serve"));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(worker.run(sized_case(test::kRecycle)).report);
  EXPECT_EQ(worker.counters().deaths, 0u);
  EXPECT_GE(worker.counters().children, 4u);
}

TEST(WorkerProcess, GarbageOnThePipeLosesOnlyTheCaseInFlight) {
  WorkerProcess worker(fake_worker("serve"));
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  const CaseResult result = worker.run(sized_case(test::kGarbage));
  ASSERT_TRUE(result.death);
  EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kLost);
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  EXPECT_EQ(worker.counters().starts, 2u);
}

TEST(WorkerProcess, GarbageOfADevicesWorkerLosesOnlyTheCaseInFlightToo) {
  WorkerProcess worker(fake_worker("direct"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
    const CaseResult result = worker.run(sized_case(test::kGarbage));
    ASSERT_TRUE(result.death);
    EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kLost);
  }
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
}

TEST(WorkerProcess, AServerThatDiesIsStartedAgainButNotForEver) {
  WorkerProcess worker(fake_worker("serve"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(worker.run(sized_case(test::kServerDies)).death);
    ASSERT_TRUE(worker.run(sized_case(test::kPass)).report);
  }
  int lost = 0;
  try {
    for (; lost < 10; ++lost) worker.run(sized_case(test::kServerDies));
    FAIL() << "no bound";
  } catch (const HarnessError& error) {
    EXPECT_EQ(lost, WorkerProcess::kLossesMax - 1);
    EXPECT_THAT(error.what(), HasSubstr("3 times in a row"));
  }
}

TEST(WorkerProcess, RenewGivesAFreshProcess) {
  WorkerProcess worker(fake_worker("serve"));
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).fresh_child);
  EXPECT_FALSE(worker.run(sized_case(test::kPass)).fresh_child);
  worker.renew();
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).fresh_child);
  EXPECT_EQ(worker.counters().deaths, 0u);
}

TEST(WorkerProcess, ASignalCostsAForkAndNoStart) {
  WorkerProcess worker(fake_worker("serve"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(worker.run(sized_case(test::kSegfault)).death);
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  }
  EXPECT_EQ(worker.counters().starts, 1u);
  EXPECT_EQ(worker.counters().children, 6u);
}

TEST(WorkerProcess, WhatEarlierCallsLeftIsGoneBeforeACaseOfSeveralCalls) {
  WorkerProcess worker(fake_worker("serve"));
  Case several = sized_case(test::kPass);
  several.then.push_back({several.inputs, 1});
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).fresh_child);
  EXPECT_TRUE(worker.run(several).fresh_child);
  EXPECT_FALSE(worker.run(sized_case(test::kPass)).fresh_child);
  EXPECT_EQ(worker.counters().deaths, 0u);
}

TEST(WorkerProcess, AProgramKilledBetweenCasesIsStartedAgainBeforeACaseOfSeveralCalls) {
  WorkerProcess worker(fake_worker("serve"));
  Case several = sized_case(test::kPass);
  several.then.push_back({several.inputs, 1});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
    ASSERT_EQ(::kill(worker.start().pid, SIGKILL), 0);
    const CaseResult result = worker.run(several);
    EXPECT_TRUE(result.report);
    EXPECT_TRUE(result.fresh_child);
  }
  EXPECT_EQ(worker.counters().starts, 4u);
}

TEST(WorkerProcess, ADeviceFaultIsTakenOverByASpare) {
  WorkerProcess worker(fake_worker("direct"));
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
    const CaseResult result = worker.run(sized_case(test::kDeviceFault));
    ASSERT_TRUE(result.death);
    EXPECT_EQ(result.death->kind, WorkerDeath::Kind::kDeviceFault);
    EXPECT_EQ(result.death->device_error, "illegal memory access");
    EXPECT_TRUE(result.death->memory_fault);
    EXPECT_EQ(result.death->step, "launch 2: triton_poi_fused_add_0");
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).fresh_child);
  }
  EXPECT_EQ(worker.counters().deaths, 6u);
  EXPECT_EQ(worker.counters().children, 7u);
  EXPECT_EQ(worker.counters().starts, 9u) << "one at work, two kept ready, one for each death";
  EXPECT_EQ(worker.counters().losses, 0u);
}

TEST(WorkerProcess, AProgramThatServesItselfMayDieAsAnyChildMay) {
  WorkerProcess worker(fake_worker("direct"));
  const CaseResult crash = worker.run(sized_case(test::kSegfault));
  ASSERT_TRUE(crash.death);
  EXPECT_EQ(crash.death->signal, SIGSEGV);
  EXPECT_EQ(crash.death->step, "cpp_fused_add_0");
  const CaseResult hang = worker.run(sized_case(test::kHang));
  ASSERT_TRUE(hang.death);
  EXPECT_EQ(hang.death->kind, WorkerDeath::Kind::kHang);
  const CaseResult killed = worker.run(sized_case(test::kKilled));
  ASSERT_TRUE(killed.death);
  EXPECT_EQ(killed.death->kind, WorkerDeath::Kind::kOutOfMemory);
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
}

TEST(WorkerProcess, ACaseThatAnEndedProgramDidNotTakeGoesToTheNext) {
  WorkerProcess worker(fake_worker("direct"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(worker.run(sized_case(test::kRecycle)).report);
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  }
  EXPECT_EQ(worker.counters().deaths, 0u) << "a planned end is no death";
  EXPECT_TRUE(worker.run(sized_case(test::kReportThenDie)).report);
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  EXPECT_EQ(worker.counters().deaths, 1u);
}

TEST(WorkerProcess, RenewTakesASpare) {
  WorkerProcess worker(fake_worker("direct"));
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).fresh_child);
  EXPECT_FALSE(worker.run(sized_case(test::kPass)).fresh_child);
  worker.renew();
  EXPECT_TRUE(worker.run(sized_case(test::kPass)).fresh_child);
  EXPECT_EQ(worker.counters().deaths, 0u);
}

TEST(WorkerProcess, SparesThatCannotLoadAreDoneWithout) {
  WorkerProcess worker(fake_worker("lonely"));
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(worker.run(sized_case(test::kDeviceFault)).death);
    EXPECT_TRUE(worker.run(sized_case(test::kPass)).report);
  }
}

TEST(WorkerProcess, TakesCareUntilToldOtherwise) {
  WorkerProcess worker(fake_worker("direct"));
  EXPECT_EQ(worker.run(sized_case(test::kTellCare)).report->verdicts[0].oracle, "careful");
  worker.set_careful(false);
  EXPECT_EQ(worker.run(sized_case(test::kTellCare)).report->verdicts[0].oracle, "quick");
}

TEST(WorkerProcess, AWorkerThatCannotStartSaysWhy) {
  EXPECT_THAT(error_of("exit"), HasSubstr("cannot open shared object"));
  EXPECT_THAT(error_of("silent"), HasSubstr("did not finish loading in time"));
  EXPECT_THAT(error_of("garbage"), HasSubstr("does not speak our protocol"));
  EXPECT_THAT(error_of("fatal"),
              HasSubstr("the package was built for cuda\n  where: model.pt2\n  to do: run it where there is a GPU"));
  EXPECT_THAT(error_of("noready"), HasSubstr("serves no cases"));
}

TEST(WorkerProcess, AProgramThatIsNotThereIsAnErrorOfTheWorld) {
  WorkerOptions options = fake_worker("serve");
  options.program = "/nonexistent/aotifuzz-worker";
  WorkerProcess worker(options);
  EXPECT_THROW(worker.start(), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
