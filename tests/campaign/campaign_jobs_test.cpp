#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <thread>

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

class JobsTest : public CampaignTest {
 protected:
  /// As many jobs as executors, each with a source of its own.
  CampaignResult run_jobs(std::vector<FakeExecutor>& executors) {
    std::vector<CampaignJobParts> jobs;
    for (FakeExecutor& executor : executors) jobs.push_back({executor, source_});
    FindingContext context;
    context.package_hash = hash_;
    Campaign campaign({contract_, true, "/models/m.pt2", "", {}, context, {}}, options_, jobs, listener_);
    return campaign.run(stop_);
  }
};

TEST_F(JobsTest, FindEachFaultOnceAndCountTheRest) {
  std::vector<FakeExecutor> executors(4, FakeExecutor(threshold));
  options_.cases = 400;
  const CampaignResult result = run_jobs(executors);
  EXPECT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(listener_.findings.size(), 1u);
  EXPECT_EQ(result.statistics.cases, 400u);
  EXPECT_EQ(result.findings[0].finding.minimal.inputs[0].sizes[0], 16);
  uint64_t cases = 0;
  for (size_t job = 0; job < 4; ++job) {
    cases += result.jobs[job].cases;
    EXPECT_EQ(result.jobs[job].seed, 1 + job);
  }
  EXPECT_EQ(cases, 400u);
  EXPECT_THAT(print_summary(result, {}), HasSubstr("job: seed 4, from case 0, "));
}

TEST_F(JobsTest, EachGoesOnWhereItsSeedStopped) {
  const auto pass = [](const Case&) { return reported({passed()}); };
  std::vector<FakeExecutor> first(2, FakeExecutor(pass)), second(3, FakeExecutor(pass));
  options_.cases = 50;
  const CampaignResult before = run_jobs(first);
  const CampaignResult after = run_jobs(second);
  for (size_t job = 0; job < 2; ++job) {
    const uint64_t done = before.ledger.next_case.at(std::to_string(1 + job));
    EXPECT_EQ(after.jobs[job].first_case, done);
  }
  EXPECT_EQ(after.jobs[2].first_case, 0u);
  EXPECT_EQ(after.ledger.cases, 100u);
}

TEST_F(JobsTest, ShareTheSeedCases) {
  source_.seed_list = {tied_case(1, 1), tied_case(2, 2), tied_case(3, 3), tied_case(4, 4)};
  std::atomic<int> ran[2] = {0, 0};
  std::vector<FakeExecutor> executors;
  for (std::atomic<int>& count : ran)
    executors.emplace_back([&count](const Case&) {
      ++count;
      return reported({passed()});
    });
  options_.cases = {};
  listener_.on_tick = [&] { stop_ = ran[0] > 20 && ran[1] > 20; };
  run_jobs(executors);
  EXPECT_EQ(executors[0].ran[0], tied_case(1, 1));
  EXPECT_EQ(executors[0].ran[1], tied_case(3, 3));
  EXPECT_EQ(executors[1].ran[0], tied_case(2, 2));
  EXPECT_EQ(executors[1].ran[1], tied_case(4, 4));
}

TEST_F(JobsTest, WhatOneJobLooksIntoIsOnDiskWhenAnotherSavesAndAKillLosesIt) {
  // Job 0 is stuck confirming a fault while job 1 finds another one, which saves. Nobody looks at anything twice.
  std::atomic<bool> saved{false}, stuck{false};
  std::string state;
  std::vector<FakeExecutor> executors;
  executors.emplace_back([&](const Case& c) {
    if (c.inputs[0].sizes[0] != 21) return reported({passed()});
    if (stuck.exchange(true))
      while (!saved) std::this_thread::yield();
    return reported({failed("slow")});
  });
  executors.emplace_back([&](const Case& c) {
    while (!stuck) std::this_thread::yield();
    return reported({c.inputs[0].sizes[0] == 35 ? failed("quick") : passed()});
  });
  listener_.on_tick = [&] {
    if (saved || listener_.findings.empty()) return;
    state = read_file(options_.out + "/state.json");
    saved = true;
  };
  options_.cases = 200;
  const CampaignResult result = run_jobs(executors);
  EXPECT_EQ(result.findings.size(), 2u);
  const Ledger ledger = *parse_ledger(state);
  const Ledger::Section& section = ledger.packages.at(hash_);
  ASSERT_EQ(section.known.size(), 1u);
  ASSERT_EQ(section.pending.size(), 1u);
  EXPECT_EQ(parse_case(section.pending[0])->inputs[0].sizes[0], 21);
  EXPECT_TRUE(load_ledger(options_.out + "/state.json").packages.at(hash_).pending.empty());
}

TEST_F(JobsTest, AnErrorOfOneEndsAllAndIsThrown) {
  std::vector<FakeExecutor> executors(1, FakeExecutor([](const Case&) { return reported({passed()}); }));
  executors.emplace_back([](const Case&) -> CaseResult { throw HarnessError("broken", "here", "mend it"); });
  options_.cases = {};
  EXPECT_THROW(run_jobs(executors), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
