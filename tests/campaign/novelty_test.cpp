#include "campaign/novelty.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

std::vector<Violation> breaks(const std::string& text) { return {{Condition::Kind::kGuard, 0, text, text}}; }

int count_runs(Novelty& novelty, const Case& c, const std::vector<Violation>& broken, int draws) {
  int runs = 0;
  for (int i = 0; i < draws; ++i) {
    if (!novelty.is_worth_running(c, broken)) continue;
    ++runs;
    novelty.ran(c, broken, /*brought_news=*/false);
  }
  return runs;
}

TEST(Novelty, CasesWithinTheContractAlwaysRun) {
  Novelty novelty;
  EXPECT_EQ(count_runs(novelty, {}, {}, 1000), 1000);
  EXPECT_EQ(novelty.passed_over(), 0u);
}

TEST(Novelty, WhatBringsNothingNewRunsOneTimeInEight) {
  Novelty novelty;
  EXPECT_EQ(count_runs(novelty, {}, breaks("x.size(0) <= 64"), Novelty::kQuiet + 80), Novelty::kQuiet + 10);
  EXPECT_EQ(novelty.passed_over(), 70u);
}

TEST(Novelty, NewsBringsASortBack) {
  Novelty novelty;
  const auto broken = breaks("x.size(0) <= 64");
  count_runs(novelty, {}, broken, Novelty::kQuiet);
  EXPECT_FALSE(novelty.is_worth_running({}, broken));
  novelty.ran({}, broken, /*brought_news=*/true);
  EXPECT_EQ(count_runs(novelty, {}, broken, Novelty::kQuiet), Novelty::kQuiet);
}

TEST(Novelty, SortsAreJudgedApart) {
  Novelty novelty;
  count_runs(novelty, {}, breaks("a"), 200);
  EXPECT_EQ(count_runs(novelty, {}, breaks("b"), Novelty::kQuiet), Novelty::kQuiet);
  Case checked;
  checked.input_checks = true;
  EXPECT_EQ(count_runs(novelty, checked, breaks("a"), Novelty::kQuiet), Novelty::kQuiet);
}

TEST(Novelty, TwoQuietConditionsAtOnceAreQuiet) {
  Novelty novelty;
  std::vector<Violation> both = breaks("a");
  both.push_back(breaks("b").front());
  count_runs(novelty, {}, breaks("a"), 200);
  EXPECT_EQ(count_runs(novelty, {}, both, Novelty::kQuiet), Novelty::kQuiet);  // b is still new
  EXPECT_EQ(count_runs(novelty, {}, both, 80), 10);
}

}  // namespace
}  // namespace aotifuzz
