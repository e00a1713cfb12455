#include "campaign/reducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include "campaign/case_complexity.h"
#include "campaign/passes/catalog.h"
#include "store/case_text.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;

class Reduce : public ::testing::Test {
 protected:
  /// Reduces `c` where `fails` says which cases fail, legally or not as the contract has it.
  Reduction reduce(const Case& c, std::function<bool(const Case&)> fails, ReducerOptions options = {}) {
    FakeExecutor executor([&](const Case& candidate) {
      const bool legal = violations(contract_, candidate).empty();
      return reported({fails(candidate) ? failed("planted", legal) : passed()});
    });
    const TriageContext context{contract_, true};
    Reducer reducer(context, executor, options);
    const Reduction out = reducer.reduce(c, failed("planted", violations(contract_, c).empty()));
    ran_ = executor.ran;
    return out;
  }
  Contract contract_ = tied_contract();
  std::vector<Case> ran_;
};

TEST_F(Reduce, AThresholdIsFoundExactlyAndCertified) {
  const Reduction out = reduce(tied_case(300, 77), [](const Case& c) { return c.inputs[0].sizes[0] >= 16; });
  EXPECT_EQ(out.minimal.inputs[0].sizes, (std::vector<int64_t>{16, 0}));
  EXPECT_TRUE(out.one_minimal);
  EXPECT_THAT(out.certificate, Contains("x.size(0): 16 fails, 15 passes"));
  EXPECT_LE(out.runs, 60);
}

TEST_F(Reduce, WhatMustBeKeptIsKept) {
  ReducerOptions options;
  options.keeps = [](const Case& c) { return c.inputs[0].sizes[0] >= 40; };
  const Reduction out = reduce(
      tied_case(300, 77), [](const Case& c) { return c.inputs[0].sizes[0] >= 16; }, options);
  EXPECT_EQ(out.minimal.inputs[0].sizes, (std::vector<int64_t>{40, 0}));
}

TEST_F(Reduce, TiedDimensionsMoveTogether) {
  const Reduction out = reduce(tied_case(8, 77), [](const Case& c) { return c.inputs[1].sizes[0] >= 5; });
  EXPECT_EQ(out.minimal.inputs[0].sizes, (std::vector<int64_t>{0, 5}));
  EXPECT_EQ(out.minimal.inputs[1].sizes, (std::vector<int64_t>{5}));
  for (const Case& c : ran_) EXPECT_TRUE(violations(contract_, c).empty()) << print_case(c);
}

TEST_F(Reduce, FurtherCallsThatDoNotMatterGoAndTheOthersShrink) {
  Case c = tied_case(8, 4);
  for (const int64_t size : {3, 70, 9}) c.then.push_back({tied_case(size, 5).inputs, 4});
  c.callers = 4;
  c.constants = CaseConstants::kSwapped;
  const Reduction out = reduce(c, [](const Case& one) {
    for (const CaseCall& call : one.then)
      if (call.inputs[0].sizes[0] > one.inputs[0].sizes[0] + 2) return true;
    return false;
  });
  ASSERT_EQ(out.minimal.then.size(), 1u);
  EXPECT_EQ(out.minimal.inputs[0].sizes[0], 0);
  EXPECT_EQ(out.minimal.then[0].inputs[0].sizes, (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(out.minimal.then[0].times, 1);
  EXPECT_EQ(out.minimal.callers, 1);
  EXPECT_EQ(out.minimal.constants, CaseConstants::kExported);
  EXPECT_TRUE(out.one_minimal);
}

TEST_F(Reduce, CallersAndOtherWeightsStayWhereTheyMatter) {
  Case c = tied_case(8, 4);
  c.callers = 4;
  c.constants = CaseConstants::kSwapped;
  const Case minimal =
      reduce(c, [](const Case& one) { return one.callers > 1 && one.constants != CaseConstants::kExported; }).minimal;
  EXPECT_EQ(minimal.callers, 2);
  EXPECT_EQ(minimal.constants, CaseConstants::kUpdated);
}

TEST_F(Reduce, TheSmallestIsFoundWhereTheFaultIsNotMonotonic) {
  // Fails at 6, 10, 14...: halving alone would stop at some odd place.
  const Reduction out =
      reduce(tied_case(30, 3), [](const Case& c) { return c.inputs[0].sizes[0] % 4 == 2 && c.inputs[0].sizes[0] > 2; });
  EXPECT_EQ(out.minimal.inputs[0].sizes[0], 6);
  EXPECT_TRUE(out.one_minimal);
}

TEST_F(Reduce, AFaultThatNeedsTwoDifferentSizesKeepsThemDifferent) {
  const Reduction out =
      reduce(tied_case(21, 20), [](const Case& c) { return c.inputs[0].sizes[0] == c.inputs[0].sizes[1] + 1; });
  EXPECT_EQ(out.minimal.inputs[0].sizes, (std::vector<int64_t>{1, 0}));
}

TEST_F(Reduce, AnIllegalCaseKeepsBreakingTheSameConditionAndNoOther) {
  Case c = tied_case(9, 40);
  c.inputs[1].sizes = {55};
  const Reduction out =
      reduce(c, [](const Case& candidate) { return candidate.inputs[1].sizes[0] > candidate.inputs[0].sizes[1]; });
  EXPECT_EQ(out.minimal.inputs[0].sizes, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(out.minimal.inputs[1].sizes, (std::vector<int64_t>{1}));
  for (const Case& ran : ran_) EXPECT_FALSE(violations(contract_, ran).empty()) << print_case(ran);
}

TEST_F(Reduce, LayoutsBecomePlainUnlessTheyMatter) {
  Case c = tied_case(4, 3);
  c.inputs[0].offset = 3;
  c.inputs[0].misalign_bytes = 4;
  c.inputs[1].offset = 7;
  const Reduction out = reduce(
      c, [](const Case& candidate) { return candidate.inputs[1].offset > 0 && candidate.inputs[1].sizes[0] == 3; });
  EXPECT_EQ(out.minimal.inputs[0].offset, 0);
  EXPECT_EQ(out.minimal.inputs[0].misalign_bytes, 0);
  EXPECT_EQ(out.minimal.inputs[1].offset, 1);
}

TEST_F(Reduce, ATransposedInputStaysTransposedWhileItsSizesShrink) {
  Case c = tied_case(40, 30);
  c.inputs[0].strides = std::vector<int64_t>{1, 40};
  const Reduction out = reduce(c, [](const Case& candidate) {
    const CaseInput& x = candidate.inputs[0];
    return x.strides && (*x.strides)[0] == 1 && x.sizes[0] >= 4 && x.sizes[1] >= 2;
  });
  EXPECT_EQ(out.minimal.inputs[0].sizes, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(out.minimal.inputs[0].strides, (std::vector<int64_t>{1, 4}));
}

TEST_F(Reduce, ValuesBecomeTheSimplestThatStillFail) {
  Case c = tied_case(1, 2);
  c.inputs[0].values = {ValueKind::kNormal, {0.0, 1.0}, 99, {{1, Number{-5.0}}}};
  c.inputs[1].values = {ValueKind::kUniform, {0.0, 1.0}, 7, {}};
  const Reduction out = reduce(c, [](const Case& candidate) {
    const CaseInput& x = candidate.inputs[0];
    return x.numel() == 2 && to_double(value_at(x.values, 1, 2)) < 0;
  });
  EXPECT_EQ(out.minimal.inputs[1].values.kind, ValueKind::kConst);
  EXPECT_EQ(to_double(out.minimal.inputs[1].values.numbers[0]), 0);
  EXPECT_EQ(out.minimal.inputs[0].values.kind, ValueKind::kConst) << print_case(out.minimal) << out.runs;
  EXPECT_EQ(to_double(out.minimal.inputs[0].values.numbers[0]), -1);
  EXPECT_TRUE(out.minimal.inputs[0].values.patches.empty());
}

TEST_F(Reduce, OptionsReturnToTheirSimplest) {
  Case c = tied_case(1, 1);
  c.runs = 5;
  c.threads = 4;
  c.input_checks = true;
  const Reduction out = reduce(c, [](const Case&) { return true; });
  EXPECT_EQ(out.minimal.runs, 1);
  EXPECT_EQ(out.minimal.threads, 1);
  EXPECT_FALSE(out.minimal.input_checks);
  const Reduction unstable = reduce(c, [](const Case& candidate) { return candidate.runs >= 2; });
  EXPECT_EQ(unstable.minimal.runs, 2);
}

TEST_F(Reduce, ADeathOfTheSameKindCountsAndAnotherDoesNot) {
  FakeExecutor executor([&](const Case& c) {
    const int64_t n = c.inputs[0].sizes[0];
    return n >= 8 ? died(SIGSEGV) : n >= 4 ? died(SIGFPE) : reported({passed()});
  });
  const TriageContext context{contract_, true};
  const Case c = tied_case(64, 1);
  const Verdict verdict = judge_result(context, c, died(SIGSEGV))[0];
  EXPECT_EQ(Reducer(context, executor, {}).reduce(c, verdict).minimal.inputs[0].sizes[0], 8);
}

TEST_F(Reduce, TheSameAnswersGiveTheSameReduction) {
  const auto fails = [](const Case& c) { return c.inputs[0].sizes[0] * 3 + c.inputs[0].sizes[1] >= 40; };
  const Reduction a = reduce(tied_case(99, 98), fails);
  const std::vector<Case> first = ran_;
  const Reduction b = reduce(tied_case(99, 98), fails);
  EXPECT_EQ(print_case(a.minimal), print_case(b.minimal));
  EXPECT_EQ(first, ran_);
}

TEST_F(Reduce, NoCaseRunsTwice) {
  reduce(tied_case(99, 98), [](const Case& c) { return c.inputs[0].sizes[0] >= 7; });
  std::set<std::string> texts;
  for (const Case& c : ran_) EXPECT_TRUE(texts.insert(print_case(c)).second) << print_case(c);
}

TEST_F(Reduce, ASpentBudgetIsSaidAndTheBestSoFarKept) {
  ReducerOptions options;
  options.runs_max = 5;
  const Reduction out = reduce(
      tied_case(1000, 1000), [](const Case& c) { return c.inputs[0].sizes[0] >= 333; }, options);
  EXPECT_FALSE(out.one_minimal);
  EXPECT_EQ(out.runs, 5);
  EXPECT_LT(case_complexity(out.minimal), case_complexity(tied_case(1000, 1000)));
}

TEST_F(Reduce, AFlakyFailureIsFollowedWithMoreAttempts) {
  int calls = 0;
  FakeExecutor executor([&](const Case& c) {
    return reported({c.inputs[0].sizes[0] >= 16 && ++calls % 3 == 0 ? failed("planted") : passed()});
  });
  const TriageContext context{contract_, true};
  ReducerOptions options;
  options.attempts = 3;
  options.runs_max = 1000;
  EXPECT_EQ(Reducer(context, executor, options).reduce(tied_case(40, 2), failed("planted")).minimal.inputs[0].sizes[0],
            16);
}

TEST_F(Reduce, DerivedSizesMoveThroughTheirSymbol) {
  // x f32[2*s0]: no input states s0 itself.
  contract_ = {};
  InputSpec x;
  x.name = "x";
  x.sizes = {Expr::make(ExprOp::kMul, {Expr::integer(2), Expr::symbol("s0")})};
  x.strides = {Expr::integer(1)};
  contract_.inputs = {x};
  contract_.symbols = {{"s0", "", 0, std::nullopt, false}};
  Case c;
  c.inputs = {tensor("x", {40})};
  const Reduction out = reduce(c, [](const Case& candidate) { return candidate.inputs[0].sizes[0] >= 13; });
  EXPECT_EQ(out.minimal.inputs[0].sizes[0], 14);
  EXPECT_THAT(out.certificate, Contains("x.size(0): 14 fails, 12 passes"))
      << "symbols of the export change, dimensions do not";
}

TEST(Passes, ProposeNothingForTheSimplestCase) {
  Case c = tied_case(0, 0);
  c.runs = 1;
  const Contract contract = tied_contract();
  for (const auto& pass : make_passes())
    for (const Case& candidate : pass->propose(c, contract))
      EXPECT_GE(case_complexity(candidate), case_complexity(c)) << pass->name() << "\n" << print_case(candidate);
}

TEST(Passes, AreNamedOnceAndExplained) {
  std::set<std::string_view> names;
  for (const PassEntry& entry : pass_catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_FALSE(entry.help.empty());
    EXPECT_EQ(entry.make()->name(), entry.name);
  }
}

}  // namespace
}  // namespace aotifuzz
