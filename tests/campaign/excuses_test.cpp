#include "campaign/excuses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/atomic_file.h"
#include "store/finding_folder.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
namespace fs = std::filesystem;

class ExcusesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "aotifuzz-excuses-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
    write_file_whole(known(), "issue 7\nclass wrong-result\nsignature known\nreason because\n");
    Finding finding;
    finding.minimal = finding.original = tied_case(16, 0);
    finding.verdict = failed("old");
    finding.package = "/models/first.pt2";
    make_folder(folder_ + "/baseline/findings");
    write_finding_folder(folder_ + "/baseline/findings/a", finding, {});
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string known() const { return folder_ + "/known.txt"; }
  std::string baseline() const { return folder_ + "/baseline"; }

  static ReplayResult replayed(ReplayResult::Status status, std::vector<Verdict> verdicts) {
    ReplayResult result;
    result.status = status;
    result.verdicts = std::move(verdicts);
    return result;
  }
  std::string folder_;
};

TEST_F(ExcusesTest, ComeFromKnownIssuesAndFromTheBaselinesSignatures) {
  const Excuses excuses(known(), baseline());
  EXPECT_EQ(excuses.of(failed("known"), tied_case(1, 1)), "known issue 7: because");
  EXPECT_EQ(excuses.of(failed("old"), tied_case(9, 9)), "in the baseline " + baseline());
  EXPECT_EQ(excuses.of(failed("old", false), tied_case(9, 9)), "") << "a fault is not the gap of the same signature";
  EXPECT_EQ(excuses.of(failed("new"), tied_case(1, 1)), "");
  EXPECT_TRUE(Excuses("", "").none());
}

TEST_F(ExcusesTest, ABaselineOfAnotherPackageIsSaidToBeOne) {
  const Excuses excuses("", baseline());
  EXPECT_EQ(excuses.other_packages("first"), "");
  EXPECT_EQ(excuses.other_packages("another"), "first");
  EXPECT_EQ(Excuses("", "").other_packages("another"), "");
}

TEST_F(ExcusesTest, ABaselineThatFoundNothingExcusesNothing) {
  make_folder(folder_ + "/clean");
  write_file_whole(folder_ + "/clean/state.json", "{}");
  EXPECT_TRUE(Excuses("", folder_ + "/clean").none());
  EXPECT_THROW(Excuses("", folder_ + "/absent"), HarnessError);
  // A corpus that begins; a folder of something else is no corpus.
  make_folder(folder_ + "/empty");
  write_file_whole(folder_ + "/empty/.gitkeep", "");
  EXPECT_TRUE(Excuses("", folder_ + "/empty").none());
  write_file_whole(folder_ + "/empty/notes.md", "");
  EXPECT_THROW(Excuses("", folder_ + "/empty"), HarnessError);
  EXPECT_THROW(Excuses(folder_ + "/absent", ""), HarnessError);
}

TEST_F(ExcusesTest, AReplayedCaseNeedsOneForAllThatFails) {
  const Excuses excuses(known(), "");
  CorpusEntry entry;
  entry.input = tied_case(1, 1);
  EXPECT_NE(excuses.of(entry, replayed(ReplayResult::Status::kFails, {failed("known"), passed()})), "");
  EXPECT_EQ(excuses.of(entry, replayed(ReplayResult::Status::kFails, {failed("known"), failed("new")})), "");
  entry.expectation.emplace();
  entry.expectation->signature = "known";
  EXPECT_NE(excuses.of(entry, replayed(ReplayResult::Status::kStillFails, {failed("new"), failed("known")})), "")
      << "what fails as expected is what a replay is about";
}

TEST_F(ExcusesTest, CasesThatWereNotTriedAreSaid) {
  write_file_whole(known(), "issue 7\nclass wrong-result\nsignature known\ncase a.txt\nreason because\n");
  const std::vector<KnownCase> cases = untried_cases(Excuses(known(), "").issues(), "the campaign was stopped");
  EXPECT_EQ(print_known_cases(cases), "known issue 7: " + folder_ + "/a.txt not tried (the campaign was stopped)\n");
}

TEST_F(ExcusesTest, AFixedCaseOfAKnownIssueIsAnAlarm) {
  const Excuses excuses(known(), "");
  CorpusEntry entry;
  entry.input = tied_case(1, 1);
  entry.path = "a/case.txt";
  entry.expectation.emplace();
  entry.expectation->signature = "known";
  entry.expectation->cls = VerdictClass::kWrongResult;
  const auto alarm = known_but_fixed(excuses.issues(), entry, replayed(ReplayResult::Status::kFixed, {passed()}));
  ASSERT_TRUE(alarm);
  EXPECT_EQ(alarm->status, KnownCase::Status::kNoLongerFails);
  EXPECT_NE(print_known_cases({*alarm}).find("known issue 7: a/case.txt no longer fails"), std::string::npos);
  EXPECT_FALSE(
      known_but_fixed(excuses.issues(), entry, replayed(ReplayResult::Status::kStillFails, {failed("known")})));
  entry.expectation->signature = "other";
  EXPECT_FALSE(known_but_fixed(excuses.issues(), entry, replayed(ReplayResult::Status::kFixed, {passed()})));
}

TEST(StrictKnownIssues, AlarmsAndLostCasesHaveExitCodesOfTheirOwn) {
  using Status = KnownCase::Status;
  const auto code = [](std::vector<Status> all, int before = kExitNoFaults) {
    std::vector<KnownCase> cases;
    for (const Status status : all) cases.push_back({"link", "case.txt", status, "note"});
    return strict_exit_code(cases, before);
  };
  EXPECT_EQ(code({Status::kStillFails, Status::kNotTried}), kExitNoFaults);
  EXPECT_EQ(code({Status::kStillFails, Status::kNoLongerFails}), kExitFaults);
  EXPECT_EQ(code({Status::kFailsOtherwise}), kExitFaults);
  // A folder that was renamed must not silence the alarm.
  EXPECT_EQ(code({Status::kUnreadable, Status::kStillFails}), kExitWorld);
  EXPECT_EQ(code({Status::kUnreadable, Status::kNoLongerFails}), kExitFaults);
  EXPECT_EQ(code({Status::kUnreadable}, kExitFaults), kExitFaults);
}

TEST(StrictKnownIssues, WhatFailsOtherwiseIsNotCalledMended) {
  const std::string text = print_known_cases({{"link", "case.txt", KnownCase::Status::kFailsOtherwise, "changed"}});
  EXPECT_NE(text.find("fails in another way"), std::string::npos);
  EXPECT_EQ(text.find("mended"), std::string::npos);
}

}  // namespace
}  // namespace aotifuzz
