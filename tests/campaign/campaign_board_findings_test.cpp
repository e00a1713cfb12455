#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "campaign/campaign.h"
#include "tests/campaign/campaign_fixture.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::Pair;
namespace fs = std::filesystem;

/// One kernel is wrong from 8 on; the output shows it at odd sizes only.
CaseResult wrong_kernel(const Case& c) {
  const int64_t size = c.inputs[0].sizes[0];
  if (size < 8) return reported({passed()});
  const bool shown = size % 2 == 1;
  Verdict verdict = failed(shown ? "wrong-result output 0" : "wrong-result inside aten.add.Tensor");
  verdict.oracle = shown ? "close" : "kernels";
  verdict.measures = {{"kernel", "cpp_fused_add_0"}, {"kernel output", "out_ptr0 = add (aten.add.Tensor)"}};
  return reported({verdict});
}

TEST_F(CampaignTest, AHiddenErrorOfAKernelThatAFindingNamesIsCountedThere) {
  source_.seed_list = {tied_case(15, 0)};
  FakeExecutor executor(wrong_kernel);
  const CampaignResult result = run(executor);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].finding.verdict.signature, "wrong-result output 0");
  EXPECT_GT(result.ledger.known.begin()->second.duplicates, 30u);
  // The next run knows it too.
  listener_.findings.clear();
  EXPECT_TRUE(run(executor).findings.empty());
}

TEST_F(CampaignTest, AHiddenErrorThatAnOutputShowsLaterIsOneFinding) {
  source_.seed_list = {tied_case(14, 0), tied_case(15, 0)};
  FakeExecutor executor(wrong_kernel);
  options_.cases = 1;
  const CampaignResult first = run(executor);
  ASSERT_EQ(first.findings.size(), 1u);
  EXPECT_EQ(first.findings[0].finding.verdict.oracle, "kernels");
  options_.cases = 100;
  const CampaignResult second = run(executor);
  ASSERT_EQ(second.findings.size(), 1u);
  EXPECT_EQ(second.findings[0].finding.verdict.signature, "wrong-result output 0");
  EXPECT_EQ(second.ledger.known.size(), 1u);
  EXPECT_GT(second.ledger.known.begin()->second.duplicates, 30u);
  EXPECT_FALSE(fs::exists(first.findings[0].folder));
  EXPECT_TRUE(fs::exists(second.findings[0].folder + "/case.txt"));
  EXPECT_THAT(listener_.merged, Contains(Pair(first.findings[0].folder, second.findings[0].folder)));
  EXPECT_TRUE(run(executor).findings.empty());
}

TEST_F(CampaignTest, AHiddenFaultIsNotCountedWithAGapOfTheSameKernel) {
  for (const bool hidden_first : {false, true}) {
    source_.seed_list = {tied_case(hidden_first ? 14 : 15, 0), tied_case(hidden_first ? 15 : 14, 0)};
    FakeExecutor executor([](const Case& c) {
      CaseResult result = wrong_kernel(c);
      for (Verdict& verdict : result.report->verdicts) verdict.fault = verdict.oracle == "kernels";
      return result;
    });
    options_.out = out_ + (hidden_first ? "/hidden-first" : "/gap-first");
    EXPECT_EQ(run(executor).findings.size(), 2u) << hidden_first;
  }
  EXPECT_TRUE(listener_.merged.empty());
}

TEST_F(CampaignTest, AHiddenErrorOfAnotherKernelIsAFindingOfItsOwn) {
  source_.seed_list = {tied_case(15, 0)};
  FakeExecutor executor([](const Case& c) {
    CaseResult result = wrong_kernel(c);
    for (Verdict& verdict : result.report->verdicts)
      if (verdict.oracle == "kernels") verdict.measures[0].second = "cpp_fused_mul_1";
    return result;
  });
  EXPECT_EQ(run(executor).findings.size(), 2u);
}

}  // namespace
}  // namespace aotifuzz
