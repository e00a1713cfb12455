#include "campaign/feedback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;

std::set<std::pair<std::string, int>> features(const Case& c, const CaseResult& result) {
  std::set<std::pair<std::string, int>> out;
  const std::vector<Verdict> verdicts = result.report ? result.report->verdicts : std::vector<Verdict>{};
  for (const Feature& feature : features_of(c, {}, result, verdicts)) out.emplace(feature.name, feature.level);
  return out;
}

CaseResult near(const std::string& share) {
  Verdict verdict = passed();
  verdict.measures = {{kNearness, share}};
  return reported({verdict});
}

TEST(Feedback, ASizeOfAnotherClassIsNewAndOneOfTheSameClassIsNot) {
  const auto base = features(tied_case(40, 3), reported({passed()}));
  EXPECT_EQ(features(tied_case(41, 3), reported({passed()})), base);
  EXPECT_NE(features(tied_case(48, 3), reported({passed()})), base);
  EXPECT_NE(features(tied_case(40, 1), reported({passed()})), base);
}

TEST(Feedback, APairOfSizesIsNewWhereEachAloneIsKnown) {
  const CaseResult result = reported({passed()});
  std::set<std::pair<std::string, int>> known;
  for (const Case& c : {tied_case(1, 3), tied_case(40, 32)}) known.merge(features(c, result));
  const auto both = features(tied_case(1, 32), result);
  EXPECT_FALSE(std::includes(known.begin(), known.end(), both.begin(), both.end()));
}

TEST(Feedback, WhatCameOfACaseCounts) {
  const Case c = tied_case(4, 4);
  const auto base = features(c, reported({passed()}));
  EXPECT_NE(features(c, reported({failed("wrong-result output 0")})), base);
  EXPECT_NE(features(c, died(SIGSEGV)), features(c, died(SIGFPE)));
  CaseResult refused = reported({passed()});
  refused.report->runs[0].outcome = {OutcomeKind::kRejected, Stage::kSubject, "expected 3 rows but got 7"};
  CaseResult refused_otherwise = refused;
  refused_otherwise.report->runs[0].outcome.message = "expected 3 columns but got 7";
  EXPECT_NE(features(c, refused), features(c, refused_otherwise));
  // Other numbers are the same check.
  refused_otherwise.report->runs[0].outcome.message = "expected 5 rows but got 12";
  EXPECT_EQ(features(c, refused), features(c, refused_otherwise));
}

TEST(Feedback, NearerToAFaultIsNew) {
  const Case c = tied_case(4, 4);
  std::set<std::set<std::pair<std::string, int>>> seen;
  for (const char* share : {"0.001", "0.02", "0.04", "0.1", "0.2", "0.4", "0.6", "0.9"})
    seen.insert(features(c, near(share)));
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(features(c, near("0.3")), features(c, near("0.45")));
}

TEST(Feedback, LevelsGrowWithTheShareAndStayInRange) {
  EXPECT_EQ(nearness_level(0), 1);
  EXPECT_EQ(nearness_level(1), 8);
  EXPECT_EQ(nearness_level(1e300), 8);
  for (double share = 0; share < 1; share += 0.01) EXPECT_LE(nearness_level(share), nearness_level(share + 0.01));
}

TEST(Feedback, CountersAreTheSameForTheSameNamesAndLeaveTheEnginesOwnAlone) {
  const auto all = counters_of({{"a", 3}, {"b"}, {"a", 3}});
  EXPECT_EQ(all[0], all[2]);
  EXPECT_NE(all[0].index, all[1].index);
  for (int k = 0; k < 100'000; ++k) {
    const EngineCounter counter = counters_of({{std::to_string(k)}})[0];
    ASSERT_GT(counter.index, 0);
    ASSERT_LT(counter.index, EngineCounter::kCount);
  }
}

}  // namespace
}  // namespace aotifuzz
