#include "campaign/failure_region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What is said of a fault that shows for the rows where `fails` is true and at least one column.
std::vector<std::string> explored(const std::function<bool(int64_t)>& fails, int64_t minimal_rows,
                                  std::function<bool()> stop = {}) {
  FakeExecutor executor([&](const Case& c) {
    const bool wrong = fails(c.inputs[0].sizes[0]) && c.inputs[0].sizes[1] >= 1;
    return reported({wrong ? failed("wrong") : passed()});
  });
  const Contract contract = tied_contract();
  return explore_region({contract}, executor, tied_case(minimal_rows, 1), failed("wrong"), {}, stop);
}

TEST(FailureRegion, SaysForWhichSizesItFails) {
  EXPECT_THAT(explored([](int64_t n) { return n >= 16; }, 16),
              ElementsAre(HasSubstr("x.size(0): of 68 sizes tried up to 513 it fails for every one >= 16 ("),
                          HasSubstr("x.size(1): of 68 sizes tried up to 513 it fails for every one >= 1 (")));
  EXPECT_THAT(explored([](int64_t n) { return n >= 16 && n % 16 != 0; }, 17)[0],
              HasSubstr("every one >= 17 that is no multiple of 16 ("));
  EXPECT_THAT(explored([](int64_t n) { return n % 8 == 0; }, 0)[0], HasSubstr("every multiple of 8 ("));
  EXPECT_THAT(explored([](int64_t n) { return n == 3; }, 3)[0], HasSubstr("3 alone (1)"));
  EXPECT_THAT(explored([](int64_t n) { return n >= 4 && n <= 200; }, 4)[0], HasSubstr("every one from 4 to 200 ("));
}

TEST(FailureRegion, SaysNothingWhenNoSimpleRuleHolds) {
  // Only about rows: columns have their rule.
  const auto lines = explored([](int64_t n) { return n == 3 || n == 7 || n == 100; }, 3);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("x.size(1)"));
}

TEST(FailureRegion, SaysNothingWhenTheAnswersDependOnWhatRanBefore) {
  // Fails after a smaller case, as stale memory does.
  int64_t before = 0;
  FakeExecutor executor([&](const Case& c) {
    const int64_t rows = c.inputs[0].sizes[0];
    const bool wrong = rows > std::exchange(before, rows);
    return reported({wrong ? failed("wrong") : passed()});
  });
  const Contract contract = tied_contract();
  EXPECT_THAT(explore_region({contract}, executor, tied_case(1, 0), failed("wrong"), {}), IsEmpty());
}

TEST(FailureRegion, ARuleThatTheSizesKeptBackContradictIsNotSaid) {
  std::map<int64_t, bool> answers;
  for (int64_t n = 0; n < 40; ++n) answers[n] = n >= 16;
  answers[36] = false;
  EXPECT_EQ(simplest_rule(answers, {36, 38}), std::nullopt);
  answers[36] = true;
  EXPECT_EQ(simplest_rule(answers, {36, 38}), "every one >= 16");
  EXPECT_EQ(simplest_rule(answers, {500}), std::nullopt) << "nothing was kept back, so nothing was tested";
}

TEST(FailureRegion, TwoSizesMakeNoRuleOfRemainders) {
  EXPECT_EQ(simplest_rule({{16, true}, {17, false}, {32, true}, {40, false}}, {40}), std::nullopt);
}

TEST(FailureRegion, StaysWithinTheContractAndTheBudget) {
  Contract contract = tied_contract();
  contract.symbols[0].max = 20;
  Condition range;
  range.kind = Condition::Kind::kRange;
  range.expr = Expr::make(ExprOp::kLe, {Expr::symbol("x.size(0)"), Expr::integer(20)});
  range.text = "x.size(0) <= 20";
  contract.conditions.push_back(range);
  FakeExecutor executor([](const Case&) { return reported({failed("wrong")}); });
  explore_region({contract}, executor, tied_case(16, 1), failed("wrong"), {});
  for (const Case& c : executor.ran) EXPECT_LE(c.inputs[0].sizes[0], 20);
  EXPECT_THAT(explored([](int64_t) { return true; }, 1, [] { return true; }), IsEmpty());
}

}  // namespace
}  // namespace aotifuzz
