#include "campaign/same_refusal.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

/// Refuses every case with the same words; "" = finishes.
class Refusing final : public CaseExecutor {
 public:
  explicit Refusing(std::string words) : words_(std::move(words)) {}
  CaseResult run(const Case& c) override {
    CaseResult result;
    result.report.emplace();
    RunSummary run;
    run.run = "subject";
    run.outcome = {words_.empty() ? OutcomeKind::kFinished : OutcomeKind::kRejected, Stage::kSubject, words_};
    result.report->runs.push_back(run);
    return result;
  }
  void renew() override {}

 private:
  std::string words_;
};

bool marked(const std::string& words, const std::string& wanted) {
  Refusing executor(words);
  SameRefusal refusing(executor, wanted);
  const CaseResult result = refusing.run(Case{});
  return !result.report->verdicts.empty() && result.report->verdicts[0].status == VerdictStatus::kFail;
}

TEST(SameRefusal, TheSameWordsWithOtherNumbersAreTheSame) {
  EXPECT_TRUE(marked("input_handles[0]: unmatched dim value at 2, expected: 16, but got: 15",
                     "input_handles[0]: unmatched dim value at 2, expected: 16, but got: 3"));
  EXPECT_FALSE(marked("input_handles[0]: unmatched dim value at 2, expected: 16, but got: 15",
                      "input_handles[0]: unmatched stride value at 2, expected: 16, but got: 3"));
}

TEST(SameRefusal, AnotherIndexCheckIsAnother) {
  EXPECT_TRUE(marked("index out of bounds: 0 <= tmp2 < 5L", "index out of bounds: 0 <= tmp2 < 5L"));
  EXPECT_FALSE(marked("index out of bounds: 0 <= tmp4 < 5L", "index out of bounds: 0 <= tmp2 < 5L"));
}

TEST(SameRefusal, WhatFinishesOrDiesIsNotMarked) {
  EXPECT_FALSE(marked("", "index out of bounds: 0 <= tmp2 < 5L"));
  CaseResult died;
  died.death.emplace();
  EXPECT_EQ(refusal_of(died), "");
}

}  // namespace
}  // namespace aotifuzz
