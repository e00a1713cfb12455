#include "campaign/ci_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::HasSubstr;
using Status = ReplayResult::Status;

TEST(CiItems, EveryRuleThatAnItemNamesHasAMeaning) {
  const std::vector<CiRule> rules = ci_rules();
  for (const VerdictClass cls : verdict_classes())
    EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [&](const CiRule& rule) {
      return rule.id == verdict_class_name(cls) && !rule.summary.empty();
    })) << verdict_class_name(cls);
}

TEST(CiItems, AGapWarnsUnlessGapsFail) {
  FindingRecord finding;
  finding.slug = "gap-crash-1";
  finding.folder = "out/findings/gap-crash-1";
  finding.verdict = failed("SIGSEGV", false, VerdictClass::kCrash);
  finding.certificate = {"x.size(0): 16 fails, 15 passes"};
  const CiItem item = finding_item(finding, "m.pt2", false);
  EXPECT_EQ(item.level, CiLevel::kWarning);
  EXPECT_EQ(finding_item(finding, "m.pt2", true).level, CiLevel::kError);
  EXPECT_EQ(item.rule, "crash");
  EXPECT_EQ(item.fingerprint, "gap crash: SIGSEGV");
  EXPECT_EQ(item.file, "out/findings/gap-crash-1/case.txt");
  EXPECT_THAT(item.detail, HasSubstr("16 fails, 15 passes"));
  EXPECT_THAT(item.detail, HasSubstr("aotifuzz replay out/findings/gap-crash-1"));
}

TEST(CiItems, ACampaignThatJudgedHardlyAnythingFails) {
  CampaignResult result;
  result.statistics.cases = 10;
  result.statistics.judged = 9;
  EXPECT_EQ(campaign_item(result, "m").status, CiStatus::kPassed);
  result.statistics.judged = 2;
  EXPECT_EQ(campaign_item(result, "m").status, CiStatus::kFailed);
}

CiItem replayed(Status status, bool fault, ReplayCounting counting = {}) {
  CorpusEntry entry;
  entry.path = "corpus/a/case.txt";
  ReplayResult result;
  result.status = status;
  result.fault = fault;
  if (result.fails_now()) result.verdicts = {failed("sig", fault)};
  return replay_item(entry, result, "corpus", counting);
}

TEST(CiItems, AReplayFailsAsTheExitCodeDoes) {
  EXPECT_EQ(replayed(Status::kFixed, true).status, CiStatus::kPassed);
  EXPECT_EQ(replayed(Status::kPasses, true).status, CiStatus::kPassed);
  EXPECT_EQ(replayed(Status::kNotJudged, true).status, CiStatus::kSkipped);
  EXPECT_EQ(replayed(Status::kFails, true).level, CiLevel::kError);
  EXPECT_EQ(replayed(Status::kChanged, true).rule, "wrong-result");
  EXPECT_EQ(replayed(Status::kFails, false).level, CiLevel::kWarning);
  EXPECT_EQ(replayed(Status::kFails, false, {.fail_on_gaps = true}).level, CiLevel::kError);
}

TEST(CiItems, OfKnownFailuresTheFixedOnesAreTheErrors) {
  const ReplayCounting counting{.expect_failing = true};
  EXPECT_EQ(replayed(Status::kFixed, true, counting).status, CiStatus::kFailed);
  EXPECT_EQ(replayed(Status::kNotJudged, true, counting).status, CiStatus::kFailed);
}

TEST(CiItems, AKnownCaseThatNoLongerFailsWarns) {
  KnownCase known{"https://example.org/1", "k/case.txt", KnownCase::Status::kNoLongerFails, "passes in 5 runs"};
  EXPECT_EQ(known_case_item(known, "m", false).level, CiLevel::kWarning);
  EXPECT_EQ(known_case_item(known, "m", true).level, CiLevel::kError);
  known.status = KnownCase::Status::kStillFails;
  EXPECT_EQ(known_case_item(known, "m", true).status, CiStatus::kPassed);
  known.status = KnownCase::Status::kNotTried;
  EXPECT_EQ(known_case_item(known, "m", true).status, CiStatus::kSkipped);
}

TEST(CiItems, ACaseThatCouldNotRunSaysWhy) {
  const CiItem item = not_run_item("a/case.txt", "corpus", "cannot be read\n  where: line 2");
  EXPECT_EQ(item.status, CiStatus::kFailed);
  EXPECT_EQ(item.message, "cannot be read");
  EXPECT_THAT(item.detail, HasSubstr("line 2"));
}

}  // namespace
}  // namespace aotifuzz
