#include "campaign/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Example {
  Statistics statistics;
  Coverage coverage;
  Ledger::Section ledger;
  std::vector<CampaignListener::Job> jobs{{1, 0, 1000, 1e6, "fuzzing"}, {2, 50, 3000, 0, "reducing"}};
  double new_cell_us = 8e6, new_finding_us = 0;

  Example() {
    statistics.cases = 4000;
    statistics.judged = 3000;
    statistics.passed_over = 1000;
    statistics.deaths = 12;
    statistics.outcomes["worker lost"] = 2;
    statistics.elapsed_us = 11e6;
    statistics.reduction_us = 1e6;
    statistics.jobs = 2;
    coverage.add(tied_case(3, 4), {});
    ledger.known["fault wrong-result: a"] = {"s", true, 0};
    ledger.known["fault wrong-result: b"] = {"s", true, 0};
    ledger.known["gap crash: c"] = {"s", false, 0};
  }
  CampaignListener::Progress progress() const {
    return {statistics, coverage, ledger, jobs, new_cell_us, new_finding_us};
  }
};

TEST(Status, TheLineSaysWhatAFuzzersUserLooksFor) {
  const Example example;
  const std::string line = status_line(example.progress());
  for (const char* part : {"4000 cases, 381 cases/s (100 + 273)", "faults 2 (wrong-result 2), gaps 1 (crash 1)",
                           "died 12, lost 2", "not judged 25 %, passed over 20 %", "1 fuzzing, 1 reducing"})
    EXPECT_THAT(line, HasSubstr(part));
  EXPECT_THAT(line, HasSubstr("last new 3.0 s ago")) << "of cells";
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST(Status, JsonHasTheSameAndNullForWhatHasNotCome) {
  const Example example;
  const std::string text = status_json(example.progress());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const json status = json::parse(text);
  EXPECT_EQ(status["event"], "status");
  EXPECT_EQ(status["findings"]["fault wrong-result"], 2);
  EXPECT_EQ(status["jobs"][1]["cases"], 3000);
  EXPECT_DOUBLE_EQ(status["jobs"][0]["cases_per_second"], 100);
  EXPECT_DOUBLE_EQ(status["seconds_since_new_cell"], 3);
  EXPECT_TRUE(status["seconds_since_new_finding"].is_null());
  EXPECT_DOUBLE_EQ(status["share_passed_over"], 0.2);
}

TEST(Status, BeforeTheFirstCaseNothingIsDividedByZero) {
  Statistics statistics;
  const Coverage coverage;
  const Ledger::Section ledger;
  const std::vector<CampaignListener::Job> jobs(1);
  const std::string line = status_line({statistics, coverage, ledger, jobs, 0, 0});
  EXPECT_THAT(line, HasSubstr("0 cases"));
  EXPECT_THAT(line, Not(HasSubstr("nan")));
  EXPECT_THAT(line, Not(HasSubstr("last new")));
}

TEST(Status, AFindingIsOneLine) {
  Finding finding;
  finding.verdict = failed("odd \"signature\"\nof two lines");
  const std::string text = finding_json(finding, "out/findings/x", "");
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(text)["signature"], finding.verdict.signature);
}

}  // namespace
}  // namespace aotifuzz
