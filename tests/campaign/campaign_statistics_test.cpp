#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "campaign/report_file.h"
#include "campaign/summary.h"
#include "store/atomic_file.h"
#include "store/campaign_record.h"
#include "tests/campaign/campaign_fixture.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST_F(CampaignTest, StatisticsOfAllRunsAddUpToAReport) {
  FakeExecutor executor(threshold);
  run(executor);
  const size_t cells = load_campaign_records(options_.out).at(hash_).cells.size();
  EXPECT_GT(cells, 5u);
  const CampaignResult second = run(executor);
  const CampaignRecord record = load_campaign_records(options_.out).at(hash_);
  EXPECT_EQ(record.cases, 200u);
  EXPECT_EQ(record.runs.size(), 2u);
  EXPECT_EQ(record.runs[1].jobs[0].first_case, 100u);
  EXPECT_EQ(record.dimensions.at("x.size(0)").greatest, 49);
  EXPECT_EQ(record.conditions, std::vector<std::string>{"y.size(0) == x.size(1)"});
  EXPECT_EQ(record.samples.back().findings, 1u);
  EXPECT_EQ(second.coverage.cells().size(), record.cells.size()) << "what earlier runs reached is not new";
  const std::string html = read_file(write_report_file(options_.out));
  EXPECT_THAT(html, HasSubstr("<h2>Faults: 1</h2>"));
  EXPECT_THAT(html, HasSubstr("<li>y.size(0) == x.size(1)</li>"));
  fs::remove(options_.out + "/statistics.json");
  EXPECT_THROW(write_report_file(options_.out), HarnessError);
}

TEST_F(CampaignTest, CoverageSaysWhatWasReached) {
  FakeExecutor executor([](const Case&) { return reported({passed()}); });
  Case odd = tied_case(3, 4);
  odd.inputs[1].sizes = {9};
  odd.inputs[0].strides = std::vector<int64_t>{1, 3};
  source_.seed_list.push_back(odd);
  const CampaignResult result = run(executor);
  EXPECT_EQ(result.coverage.dimensions().at("x.size(0)").greatest, 49);
  EXPECT_EQ(result.coverage.layouts().at("permuted"), 1u);
  EXPECT_EQ(result.coverage.broken().at("y.size(0) == x.size(1)"), 1u);
  EXPECT_THAT(print_summary(result, {}), HasSubstr("y.size(0) == x.size(1)"));
}

}  // namespace
}  // namespace aotifuzz
