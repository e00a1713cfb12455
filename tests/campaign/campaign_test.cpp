#include "campaign/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

#include "campaign/report_file.h"
#include "campaign/summary.h"
#include "store/atomic_file.h"
#include "store/campaign_record.h"
#include "store/case_text.h"
#include "tests/campaign/campaign_fixture.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

TEST_F(CampaignTest, APlantedThresholdIsReportedOnceReducedToItAndCounted) {
  FakeExecutor executor(threshold);
  const CampaignResult result = run(executor);
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding& finding = result.findings[0].finding;
  EXPECT_EQ(finding.minimal.inputs[0].sizes, (std::vector<int64_t>{16, 0}));
  EXPECT_TRUE(finding.one_minimal);
  EXPECT_EQ(finding.reproduced, 5);
  EXPECT_EQ(finding.tries, 5);
  EXPECT_EQ(listener_.findings.size(), 1u);
  EXPECT_EQ(result.exit_code(false), kExitFaults);
  EXPECT_EQ(result.statistics.cases, 100u);
  EXPECT_GT(result.ledger.known.begin()->second.duplicates, 50u);
  EXPECT_THAT(finding.certificate, Contains(HasSubstr("it fails for every one >= 16 (")));
  // Reduction and the search for its region are paid for once: duplicates cost their own run and no more.
  EXPECT_LT(executor.ran.size(), 100 + 5 + 5 + 100 + 4 * 70u);
}

TEST_F(CampaignTest, AFindingIsAFolderThatReadsBack) {
  FakeExecutor executor(threshold);
  const std::string folder = run(executor).findings[0].folder;
  for (const char* name : {"case.txt", "original.txt", "finding.json", "report.md", "repro.py"})
    EXPECT_TRUE(fs::exists(folder + "/" + name)) << name;
  const std::string text = read_file(folder + "/case.txt");
  const auto parsed = parse_case(text);
  ASSERT_TRUE(parsed) << text;
  EXPECT_EQ(*parsed, listener_.findings[0].minimal);
  EXPECT_THAT(text, HasSubstr("# replay: aotifuzz replay " + folder));
  const auto expectation = parse_expectation(read_file(folder + "/finding.json"));
  ASSERT_TRUE(expectation);
  EXPECT_TRUE(matches(*expectation, listener_.findings[0].verdict));
  EXPECT_EQ(expectation->package, "/models/m.pt2");
  EXPECT_THAT(read_file(folder + "/report.md"), HasSubstr("x.size(0): 16 fails, 15 passes"));
}

TEST_F(CampaignTest, ASecondRunGoesOnAndReportsNothingAgain) {
  FakeExecutor executor(threshold);
  run(executor);
  const size_t ran = executor.ran.size();
  listener_.findings.clear();
  const CampaignResult second = run(executor);
  EXPECT_EQ(second.jobs[0].first_case, 100u);
  EXPECT_TRUE(second.findings.empty());
  EXPECT_TRUE(listener_.findings.empty());
  EXPECT_EQ(second.ledger.cases, 200u);
  EXPECT_EQ(second.exit_code(false), kExitFaults) << "what is known is still wrong";
  EXPECT_EQ(executor.ran[ran], source_.draw(99)) << "one seed case came before the draws";
  EXPECT_EQ(executor.ran.size(), ran + 100) << "a known finding costs no replay";
}

TEST_F(CampaignTest, AFindingWhoseFolderWasDeletedIsFoundAgain) {
  FakeExecutor executor(threshold);
  const CampaignResult first = run(executor);
  ASSERT_EQ(first.findings.size(), 1u);
  fs::remove_all(first.findings[0].folder);
  const CampaignResult second = run(executor);
  ASSERT_EQ(second.findings.size(), 1u);
  EXPECT_EQ(second.findings[0].folder, first.findings[0].folder);
  EXPECT_TRUE(fs::exists(first.findings[0].folder + "/case.txt"));
}

TEST_F(CampaignTest, ConditionsThatBringNothingNewAreMostlyPassedOver) {
  FakeExecutor executor([this](const Case& c) {
    const bool breaks = !violations(contract_, c).empty();
    return reported({breaks ? failed("gap", false, VerdictClass::kAcceptsIllegal) : passed()});
  });
  source_.untied_each = 2;
  options_.cases = 400;
  const CampaignResult result = run(executor);
  EXPECT_GT(result.statistics.passed_over, 0u);
  EXPECT_EQ(result.statistics.cases, 400u) << "what is passed over does not count as a case";
  EXPECT_GT(result.ledger.next_case.at("1"), 400u);
  EXPECT_THAT(print_summary(result, {}), HasSubstr("further draws passed over"));
}

TEST_F(CampaignTest, TwoRunsDrawWhatOneLongRunDraws) {
  FakeExecutor once([](const Case&) { return reported({passed()}); }),
      twice([](const Case&) { return reported({passed()}); });
  options_.cases = 40;
  run(once);
  options_.out = out_ + "/other";
  options_.cases = 15;
  run(twice);
  options_.cases = 25;
  run(twice);
  EXPECT_EQ(once.ran, twice.ran);
}

TEST_F(CampaignTest, AnotherPackageInTheSameFolderHasASectionOfItsOwn) {
  FakeExecutor executor(threshold);
  run(executor);
  hash_ = "00000000000000bb";
  const CampaignResult other = run(executor);
  EXPECT_EQ(other.jobs[0].first_case, 0u);
  ASSERT_EQ(other.findings.size(), 1u);
  const Ledger ledger = load_ledger(options_.out + "/state.json");
  EXPECT_EQ(ledger.packages.size(), 2u);
  EXPECT_EQ(std::distance(fs::directory_iterator(options_.out + "/findings"), fs::directory_iterator()), 2);
}

TEST_F(CampaignTest, AnotherSeedBeginsAtItsOwnStart) {
  FakeExecutor executor([](const Case&) { return reported({passed()}); });
  run(executor);
  options_.seed = 2;
  EXPECT_EQ(run(executor).jobs[0].first_case, 0u);
  options_.seed = 1;
  EXPECT_EQ(run(executor).jobs[0].first_case, 100u);
}

TEST_F(CampaignTest, ACrashIsConfirmedReducedAndLeadsTheReport) {
  FakeExecutor executor([](const Case& c) {
    const int64_t n = c.inputs[0].sizes[0];
    return n >= 30 ? died(SIGSEGV) : threshold(c);
  });
  const CampaignResult result = run(executor);
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_EQ(result.findings[0].finding.verdict.cls, VerdictClass::kCrash);
  EXPECT_EQ(result.findings[0].finding.minimal.inputs[0].sizes[0], 30);
  EXPECT_EQ(result.findings[1].finding.verdict.cls, VerdictClass::kWrongResult);
  EXPECT_GT(result.statistics.deaths, 0u);
}

TEST_F(CampaignTest, AHangIsConfirmedWithPatienceAndASlowCaseIsNoFinding) {
  class Slow final : public CaseExecutor {
   public:
    CaseResult run(const Case& c) override {
      if (c.inputs[0].sizes[0] < 40 || patience > 1) return reported({passed()});
      CaseResult result = died(SIGKILL);
      result.death->kind = WorkerDeath::Kind::kHang;
      return result;
    }
    void renew() override {}
    void set_patience(double factor) override { patience = factor; }
    double patience = 1;
  } executor;
  const CampaignResult result = run(executor);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_FALSE(result.set_aside.empty());
  EXPECT_EQ(executor.patience, 1);
}

TEST_F(CampaignTest, AFlakyFailureSaysHowOftenItCame) {
  int calls = 0;
  FakeExecutor executor([&](const Case& c) {
    return c.inputs[0].sizes[0] >= 16 && ++calls % 5 < 3 ? reported({failed("flaky")}) : reported({passed()});
  });
  options_.reduce_runs = 0;
  const CampaignResult result = run(executor);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].finding.reproduced, 3);
  EXPECT_EQ(result.findings[0].finding.tries, 5);
  EXPECT_THAT(print_summary(result, {}), HasSubstr("came 3 of 5 times in fresh processes: not each time"));
}

TEST_F(CampaignTest, WhatNeverComesAgainIsSetAsideAndSaid) {
  bool first = true;
  FakeExecutor executor([&](const Case& c) {
    if (c.inputs[0].sizes[0] < 16 || !std::exchange(first, false)) return reported({passed()});
    return reported({failed("once")});
  });
  const CampaignResult result = run(executor);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.set_aside.size(), 1u);
  EXPECT_EQ(result.exit_code(true), kExitNoFaults);
  EXPECT_THAT(print_summary(result, {}), HasSubstr("never again in fresh processes"));
}

TEST_F(CampaignTest, DamageByAnEarlierCaseOfTheProcessIsPutDownToThatCase) {
  bool damaged = false;
  FakeExecutor executor([&](const Case& c) {
    const int64_t n = c.inputs[0].sizes[0];
    if (n == 21) damaged = true;
    if (n == 35 && std::exchange(damaged, false)) return died(SIGABRT, Stage::kTeardown);
    return reported({passed()});
  });
  executor.on_renew = [&] { damaged = false; };
  const CampaignResult result = run(executor);
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding& finding = result.findings[0].finding;
  ASSERT_EQ(finding.before.size(), 1u);
  EXPECT_EQ(finding.before[0].inputs[0].sizes[0], 21);
  EXPECT_EQ(finding.minimal.inputs[0].sizes[0], 35);
  EXPECT_EQ(finding.reproduced, 5);
  EXPECT_THAT(read_file(result.findings[0].folder + "/report.md"),
              HasSubstr("only after the following ran in the same process"));
}

TEST_F(CampaignTest, AReductionLedAstrayByADamagedProcessIsDoneAgainInFreshOnes) {
  // Once a case of 16 rows ran, everything in that process fails, until renewed.
  bool damaged = false;
  FakeExecutor executor([&](const Case& c) {
    damaged = damaged || c.inputs[0].sizes[0] >= 16;
    return reported({damaged ? failed("smeared") : passed()});
  });
  executor.on_renew = [&] { damaged = false; };
  const CampaignResult result = run(executor);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].finding.minimal.inputs[0].sizes[0], 16);
  EXPECT_EQ(result.findings[0].finding.reproduced, 5);
}

TEST_F(CampaignTest, GapsDoNotFailTheRunUnlessAskedTo) {
  FakeExecutor executor([](const Case& c) {
    return reported({c.inputs[0].sizes[0] >= 16 ? failed("gap", false, VerdictClass::kMissesError) : passed()});
  });
  const CampaignResult result = run(executor);
  EXPECT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.exit_code(false), kExitNoFaults);
  EXPECT_EQ(result.exit_code(true), kExitFaults);
}

TEST_F(CampaignTest, GapsWaitForTheirShareOfTheTimeAndFaultsDoNot) {
  // Fifty gaps, each slow to look into, and one fault that only the last case shows.
  FakeExecutor executor([&](const Case& c) {
    const int64_t n = c.inputs[0].sizes[0];
    std::this_thread::sleep_for(std::chrono::microseconds(n == 0 ? 0 : 300));
    return reported({n == 0    ? passed()
                     : n == 43 ? failed("late fault")
                               : failed("gap " + std::to_string(n), false, VerdictClass::kMissesError)});
  });
  options_.cases = 51;  // every size once, 43 last
  const CampaignResult result = run(executor);
  EXPECT_EQ(result.findings.size(), 49u) << "nothing is lost";
  const auto fault = std::find_if(listener_.findings.begin(), listener_.findings.end(),
                                  [](const Finding& finding) { return finding.verdict.fault; });
  ASSERT_NE(fault, listener_.findings.end());
  EXPECT_LT(fault - listener_.findings.begin(), 30) << "the fault waited for the gaps";
  EXPECT_TRUE(result.ledger.pending.empty());
}

TEST_F(CampaignTest, GapsThatWaitedWhenTheProcessWasKilledComeFirstInTheNextRun) {
  FakeExecutor executor([](const Case& c) {
    return reported({c.inputs[0].sizes[0] == 21 ? failed("gap", false, VerdictClass::kMissesError) : passed()});
  });
  fs::create_directories(options_.out);
  Ledger ledger;
  ledger.packages[hash_].next_case["1"] = 40;
  ledger.packages[hash_].pending = {print_case(tied_case(21, 2))};
  write_file_whole(options_.out + "/state.json", print_ledger(ledger));
  options_.cases = 1;
  const CampaignResult result = run(executor);
  EXPECT_EQ(executor.ran[0], tied_case(21, 2));
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_TRUE(load_ledger(options_.out + "/state.json").packages.at(hash_).pending.empty());
}

TEST_F(CampaignTest, ACampaignThatJudgedHardlyAnythingSaysSo) {
  Verdict skip;
  skip.oracle = "close";
  skip.status = VerdictStatus::kSkip;
  skip.reason = "random op: aten.rand.default";
  FakeExecutor executor([&](const Case& c) { return reported({c.inputs[0].sizes[0] == 49 ? passed() : skip}); });
  const CampaignResult result = run(executor);
  EXPECT_EQ(result.exit_code(false), kExitWorld);
  const std::string summary = print_summary(result, {});
  EXPECT_THAT(summary, HasSubstr("nothing was judged in"));
  EXPECT_THAT(summary, HasSubstr("close: random op: aten.rand.default"));
}

TEST_F(CampaignTest, AStopEndsCleanlyWithEverythingOnDisk) {
  FakeExecutor executor(threshold);
  options_.cases = {};
  listener_.on_tick = [&] {
    if (executor.ran.size() > 300) stop_ = true;
  };
  const CampaignResult result = run(executor);
  EXPECT_TRUE(result.interrupted);
  const Ledger ledger = load_ledger(options_.out + "/state.json");
  EXPECT_EQ(ledger.packages.at(hash_).next_case.at("1"), result.statistics.cases);
  EXPECT_EQ(ledger.packages.at(hash_).known.size(), 1u);
}

TEST_F(CampaignTest, TimeEndsARunWithoutACaseLimit) {
  FakeExecutor executor([](const Case&) { return reported({passed()}); });
  options_.cases = {};
  options_.time = std::chrono::milliseconds(50);
  const CampaignResult result = run(executor);
  EXPECT_GT(result.statistics.cases, 10u);
  EXPECT_LT(result.statistics.elapsed_us, 5e6);
}

TEST_F(CampaignTest, TwoCampaignsDoNotShareAFolderAtTheSameTime) {
  fs::create_directories(options_.out);
  const FolderLock lock(options_.out);
  FakeExecutor executor(threshold);
  EXPECT_THROW(run(executor), HarnessError);
}

TEST_F(CampaignTest, AStateThatCannotBeReadIsSaidAndNotOverwritten) {
  fs::create_directories(options_.out);
  write_file_whole(options_.out + "/state.json", "{\"version\": 99}");
  FakeExecutor executor(threshold);
  EXPECT_THROW(run(executor), HarnessError);
  EXPECT_EQ(read_file(options_.out + "/state.json"), "{\"version\": 99}");
}

TEST_F(CampaignTest, AFindingWithAnExcuseIsListedAndFailsNothing) {
  FakeExecutor executor(threshold);
  options_.excuse = [](const Verdict& verdict, const Case& minimal) {
    return verdict.signature == "wrong-result output 0" && minimal.inputs[0].sizes[0] == 16 ? "known issue 7: r" : "";
  };
  const CampaignResult first = run(executor);
  EXPECT_EQ(first.exit_code(true), kExitNoFaults);
  EXPECT_EQ(listener_.excuses, std::vector<std::string>{"known issue 7: r"});
  const std::string summary = print_summary(first, {});
  EXPECT_THAT(summary, HasSubstr("faults: 0"));
  EXPECT_THAT(summary, HasSubstr("do not count: 1"));
  EXPECT_THAT(summary, HasSubstr("known issue 7: r"));
  EXPECT_EQ(run(executor).exit_code(true), kExitNoFaults) << "also when it was found earlier";
  options_.excuse = {};
  EXPECT_EQ(run(executor).exit_code(false), kExitFaults) << "and only as long as it has the excuse";
}

}  // namespace
}  // namespace aotifuzz
