#include "campaign/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

/// Runs what is worth it; `fails` says which rows show a known fault. How many of the draws ran, by rows.
std::map<int64_t, int> drive(Steering& steering, int draws, const std::function<bool(int64_t)>& fails) {
  std::map<int64_t, int> ran;
  for (int k = 0; k < draws; ++k) {
    const int64_t rows = 3 + k % 30;
    const Case c = tied_case(rows, 2 + k % 7);
    if (!steering.is_worth_running(c)) continue;
    steering.ran(c, fails(rows));
    ++ran[rows];
  }
  return ran;
}

TEST(Steering, SizesThatAlwaysFailAreMostlyPassedOver) {
  Steering steering;
  const auto ran = drive(steering, 9'000, [](int64_t rows) { return rows > 16 && rows < 31; });
  EXPECT_THAT(steering.learned(), Contains("x.size(0) of class 2^4+1"));
  EXPECT_THAT(steering.learned(), Contains("x.size(0) of class 2^4..2^5"));
  EXPECT_LT(ran.at(20), 100);
  EXPECT_GT(ran.at(20), 20) << "one in eight still runs";
  EXPECT_EQ(ran.at(10), 300);
  EXPECT_EQ(ran.at(31), 300);
  EXPECT_GT(steering.passed_over(), 2'500u);
}

TEST(Steering, WhatFailsNowAndThenIsNoReasonToStayAway) {
  Steering steering;
  int count = 0;
  drive(steering, 9'000, [&](int64_t rows) { return rows == 20 && ++count % 20 != 0; });
  EXPECT_EQ(steering.passed_over(), 0u);
  EXPECT_THAT(steering.learned(), IsEmpty());
}

TEST(Steering, WhereMostFailsEverythingRuns) {
  Steering steering;
  drive(steering, 9'000, [](int64_t rows) { return rows > 5; });
  EXPECT_EQ(steering.passed_over(), 0u);
}

TEST(Steering, AFaultThatGoesAwayIsForgotten) {
  Steering steering;
  const auto fails = [](int64_t rows) { return rows > 16 && rows < 31; };
  drive(steering, 6'000, fails);
  ASSERT_THAT(steering.learned(), Contains("x.size(0) of class 2^4..2^5"));
  const uint64_t before = steering.passed_over();
  const auto ran = drive(steering, 6'000, [](int64_t) { return false; });
  EXPECT_THAT(steering.learned(), IsEmpty());
  EXPECT_GT(ran.at(20), 150);
  EXPECT_LT(steering.passed_over() - before, 100u);
}

}  // namespace
}  // namespace aotifuzz
