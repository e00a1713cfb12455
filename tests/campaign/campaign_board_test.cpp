#include "campaign/campaign_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class SilentListener final : public CampaignListener {
  void on_progress(const Progress&) override {}
  void on_finding(const Finding&, const std::string&, const std::string&) override {}
  void on_merged(const std::string&, const std::string&) override {}
};

/// Rows from 3 to 32 in turn.
class RowsSource final : public CaseSource {
 public:
  std::vector<Case> given() const override { return given_cases; }
  std::vector<Case> seeds() const override { return {}; }
  std::vector<Case> given_cases;
  Case draw(uint64_t k) const override { return tied_case(3 + static_cast<int64_t>(k % 30), 2); }
};

class CampaignBoardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "aotifuzz-board-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    out_ = name;
  }
  void TearDown() override { fs::remove_all(out_); }

  CampaignResult run(const std::function<bool(int64_t rows)>& fails, uint64_t cases) {
    FakeExecutor executor([&](const Case& c) {
      ran_.push_back(c.inputs[0].sizes[0]);
      return reported({fails(c.inputs[0].sizes[0]) ? failed("wrong-result output 0") : passed()});
    });
    CampaignOptions options;
    options.out = out_ + "/out";
    options.cases = cases;
    FindingContext context;
    context.package_hash = "00000000000000aa";
    Campaign campaign({contract_, true, "/models/m.pt2", "", {}, context, {}}, options, {{executor, source_}},
                      listener_);
    return campaign.run(stop_);
  }

  Contract contract_ = tied_contract();
  RowsSource source_;
  SilentListener listener_;
  std::atomic<bool> stop_{false};
  std::string out_;
  std::vector<int64_t> ran_;  ///< rows of each case
};

TEST_F(CampaignBoardTest, ACampaignSteersAroundWhereAKnownFaultAlwaysShows) {
  const CampaignResult result = run([](int64_t rows) { return rows > 16 && rows < 31; }, 2'000);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.statistics.cases, 2'000u) << "others run in their place";
  EXPECT_GT(result.statistics.steered_away, 500u);
  EXPECT_THAT(result.statistics.steered_from, Contains("x.size(0) of class 2^4..2^5"));
}

TEST_F(CampaignBoardTest, WhatIsWrongNowAndThenIsNotSteeredAround) {
  int asked = 0;
  const CampaignResult result = run([&](int64_t rows) { return rows == 20 && ++asked % 10 != 0; }, 2'000);
  EXPECT_EQ(result.statistics.steered_away, 0u);
  EXPECT_THAT(result.statistics.steered_from, IsEmpty());
}

TEST_F(CampaignBoardTest, GivenCasesComeFirstInEachRunAndMoveNoOther) {
  const auto right = [](int64_t) { return false; };
  run(right, 5);
  EXPECT_EQ(ran_, (std::vector<int64_t>{3, 4, 5, 6, 7}));
  ran_.clear();
  source_.given_cases = {tied_case(100, 2), tied_case(101, 2)};
  run(right, 5);
  EXPECT_EQ(ran_, (std::vector<int64_t>{100, 101, 8, 9, 10}));
}

TEST_F(CampaignBoardTest, AFindingSaysAfterHowManyCasesItWasSeen) {
  const CampaignResult result = run([](int64_t rows) { return rows == 32; }, 100);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].finding.after_cases, 30u);
}

}  // namespace
}  // namespace aotifuzz
