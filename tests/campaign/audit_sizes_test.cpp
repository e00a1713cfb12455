#include "campaign/audit_sizes.h"

#include <gtest/gtest.h>

#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using Answer = AuditTrial::Answer;

std::string rule(const std::vector<int64_t>& bad, const std::vector<int64_t>& good) {
  std::map<int64_t, bool> fails;
  for (const int64_t value : bad) fails[value] = true;
  for (const int64_t value : good) fails[value] = false;
  const auto condition = guard_of_values("n", fails);
  return condition ? condition->text() : "";
}

TEST(GuardOfValues, IsTheSimplestThatSeparates) {
  EXPECT_EQ(rule({0, 7}, {8, 9}), "n >= 8");
  EXPECT_EQ(rule({65, 66}, {1, 64}), "n <= 64");
  EXPECT_EQ(rule({3}, {1, 2, 4}), "n != 3");
  EXPECT_EQ(rule({1, 3, 5, 7}, {2, 4, 6, 10}), "n % 2 == 0");
  EXPECT_EQ(rule({1, 8, 24, 33}, {16, 32, 64}), "n % 16 == 0");
}

TEST(GuardOfValues, NeverLetsAFailingValueThrough) {
  EXPECT_EQ(rule({5, 9}, {1, 7, 12}), "n <= 1");
  EXPECT_EQ(rule({0, 5}, {3, 12}), "n >= 12");
  EXPECT_EQ(rule({1, 2}, {}), "");
  EXPECT_EQ(rule({}, {1, 2}), "");
  EXPECT_EQ(rule({0, 9, 20}, {3, 12}), "");  // between failing ones: no single comparison is safe
}

/// A package that is right for rows from `least` on, and refuses more than `most` with checks on.
AuditAxis searched(int64_t least, int64_t most, std::chrono::milliseconds time = std::chrono::seconds(60)) {
  static const Contract contract = tied_contract();
  const TriageContext context{contract};
  FakeExecutor executor([&](const Case& c) {
    const int64_t rows = c.inputs[0].sizes[0];
    CaseResult result = reported({rows < least ? failed("short") : passed()});
    if (c.input_checks && rows > most) {
      result.report->verdicts = {passed()};
      result.report->runs[0].outcome.kind = OutcomeKind::kRejected;
    }
    return result;
  });
  AuditRunner runner(context, executor, ChecksMode::kOff, AuditRunner::Clock::now() + time, {}, {});
  const Case base = tied_case(5, 3);
  const std::function<void(Case&)> revalue = [](Case&) {};
  ContractBounds bounds;
  AuditSizes sizes(runner, bounds, base, revalue, 1 << 12);
  sizes.try_edges();
  sizes.try_widths();
  sizes.pin_down();
  return sizes.take().front();
}

TEST(AuditSizes, PinsDownWhereTheAnswerChanges) {
  const AuditAxis axis = searched(19, 700);
  EXPECT_EQ(axis.name, "x.size(0)");
  EXPECT_EQ(axis.answers.at(18).off.answer, Answer::kHarm);
  EXPECT_EQ(axis.answers.at(19).off.answer, Answer::kRight);
  EXPECT_EQ(axis.answers.at(700).on.answer, Answer::kRight);
  EXPECT_EQ(axis.answers.at(701).on.answer, Answer::kRefused);
  EXPECT_EQ(value_ranges(axis, [](const auto& a) { return a.off.answer == Answer::kHarm; }), "0..18");
  EXPECT_EQ(value_ranges(axis, [](const auto& a) { return a.on.answer == Answer::kRefused; }), "701..1025");
  EXPECT_EQ(value_ranges(axis, [](const auto& a) { return a.off.answer == Answer::kRefused; }), "none");
}

TEST(AuditSizes, TriesAroundTheWidthsOfVectorsAndTiles) {
  const AuditAxis axis = searched(0, 5000);
  for (const int64_t width : {8, 16, 64, 128, 512, 1024})
    for (const int64_t step : {-1, 0, 1}) EXPECT_TRUE(axis.answers.contains(width + step)) << width + step;
}

TEST(AuditSizes, SaysWhenTimeIsOver) {
  const AuditAxis axis = searched(19, 700, std::chrono::milliseconds(0));
  EXPECT_TRUE(axis.answers.empty());
  EXPECT_TRUE(axis.cut_short);
}

}  // namespace
}  // namespace aotifuzz
