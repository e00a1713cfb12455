#include "core/element_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace aotifuzz {
namespace {

ValueRecipe recipe(ValueKind kind, std::vector<Number> numbers, uint64_t seed = 0) {
  return {kind, std::move(numbers), seed, {}};
}

std::vector<int64_t> integers(const ValueRecipe& r, int64_t numel) {
  std::vector<int64_t> out(static_cast<size_t>(numel));
  ElementSource(r, numel).integers(0, numel, out.data());
  return out;
}

std::vector<double> reals(const ValueRecipe& r, int64_t numel) {
  std::vector<double> out(static_cast<size_t>(numel));
  ElementSource(r, numel).reals(0, numel, out.data());
  return out;
}

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

// Fixed for ever: saved cases mean these values. Computed independently with Python integers.
TEST(ElementSource, TheRandomStreamIsTheOneThatSavedCasesMean) {
  EXPECT_EQ(random_key(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random_key(1), 0x910a2dec89025cc1u);
  EXPECT_EQ(random_word(random_key(1), 0), 0x5e41ab087439611eu);
  EXPECT_EQ(random_word(random_key(1), 5), 0xc63f062c5c30e3d4u);
}

TEST(ElementSource, ElementsDependOnSeedAndPositionOnly) {
  const ValueRecipe r = recipe(ValueKind::kNormal, {0.0, 1.0}, 7);
  const std::vector<double> all = reals(r, 3000);
  double alone = 0;
  for (int64_t i : {0, 1, 511, 512, 2999}) {
    ElementSource(r, 3000).reals(i, 1, &alone);
    EXPECT_EQ(alone, all[static_cast<size_t>(i)]);
    EXPECT_EQ(std::get<double>(ElementSource(r, 3000).at(i)), alone);
  }
  EXPECT_NE(all, reals(recipe(ValueKind::kNormal, {0.0, 1.0}, 8), 3000));
}

TEST(ElementSource, NormalHasItsMomentsItsBoundsAndFullMantissas) {
  const std::vector<double> z = reals(recipe(ValueKind::kNormal, {0.0, 1.0}, 3), 200000);
  double sum = 0, squares = 0;
  int64_t fine = 0;
  for (double value : z) {
    ASSERT_LE(std::fabs(value), 6.0);
    sum += value, squares += value * value;
    fine += std::ldexp(value, 24) != std::floor(std::ldexp(value, 24));
  }
  EXPECT_NEAR(sum / 200000, 0.0, 0.01);
  EXPECT_NEAR(squares / 200000, 1.0, 0.01);
  // Coarse values would make sums exact and hide rounding.
  EXPECT_GT(fine, 199000);
}

TEST(ElementSource, UniformStaysBelowItsUpperEnd) {
  for (double value : reals(recipe(ValueKind::kUniform, {-1.0, 3.0}, 1), 10000)) {
    ASSERT_GE(value, -1.0);
    ASSERT_LT(value, 3.0);
  }
  // One representable value: everything else rounds up to hi.
  const double next = std::nextafter(1.0, 2.0);
  for (double value : reals(recipe(ValueKind::kUniform, {1.0, next}, 1), 100)) ASSERT_EQ(value, 1.0);
}

TEST(ElementSource, IntsReachBothEndsAndNothingElse) {
  const std::vector<int64_t> drawn = integers(recipe(ValueKind::kInts, {int64_t{-2}, int64_t{3}}, 5), 2000);
  EXPECT_EQ(std::set<int64_t>(drawn.begin(), drawn.end()), (std::set<int64_t>{-2, -1, 0, 1, 2, 3}));
  const std::vector<int64_t> whole = integers(recipe(ValueKind::kInts, {kMin, kMax}, 5), 1000);
  EXPECT_LT(*std::min_element(whole.begin(), whole.end()), kMin / 2);
  EXPECT_GT(*std::max_element(whole.begin(), whole.end()), kMax / 2);
  for (int64_t value : integers(recipe(ValueKind::kInts, {int64_t{4}, int64_t{1}}, 5), 10)) EXPECT_EQ(value, 4);
}

TEST(ElementSource, RampIsExactInIntegersAndWraps) {
  EXPECT_EQ(integers(recipe(ValueKind::kRamp, {int64_t{5}, int64_t{-2}}), 4), (std::vector<int64_t>{5, 3, 1, -1}));
  EXPECT_EQ(integers(recipe(ValueKind::kRamp, {kMax, int64_t{1}}), 2), (std::vector<int64_t>{kMax, kMin}));
  EXPECT_EQ(reals(recipe(ValueKind::kRamp, {0.5, int64_t{1}}), 3), (std::vector<double>{0.5, 1.5, 2.5}));
}

TEST(ElementSource, StepsAreMultiplesWithinTheirBounds) {
  const std::vector<double> drawn = reals(recipe(ValueKind::kSteps, {-1.0, 1.0, 0.1}, 2), 5000);
  for (double value : drawn) {
    const double k = std::round(value / 0.1);
    ASSERT_EQ(value, 0.1 * k);
    ASSERT_LE(std::fabs(k), 10);
  }
  EXPECT_EQ(std::set<double>(drawn.begin(), drawn.end()).size(), 21u);
  for (int64_t value : integers(recipe(ValueKind::kSteps, {int64_t{1}, int64_t{10}, int64_t{4}}, 2), 100))
    ASSERT_TRUE(value == 4 || value == 8);
}

TEST(ElementSource, StepsWithoutRoomOrWithAStepOfZeroAreStillDefined) {
  EXPECT_EQ(reals(recipe(ValueKind::kSteps, {0.5, 0.6, 1.0}, 2), 2).size(), 2u);
  EXPECT_EQ(integers(recipe(ValueKind::kSteps, {int64_t{1}, int64_t{2}, int64_t{0}}, 2), 2),
            (std::vector<int64_t>{0, 0}));
}

TEST(ElementSource, SortedStartsAtLoEndsAtHiAndNeverDecreases) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (int64_t numel : {2, 3, 4, 9, 70}) {
      for (int64_t hi : {0, 1, 5, 1000}) {
        const std::vector<int64_t> v = integers(recipe(ValueKind::kSorted, {int64_t{0}, hi}, seed), numel);
        ASSERT_EQ(v.front(), 0);
        ASSERT_EQ(v.back(), hi);
        ASSERT_TRUE(std::is_sorted(v.begin(), v.end()));
      }
    }
  }
  EXPECT_EQ(integers(recipe(ValueKind::kSorted, {int64_t{3}, int64_t{9}}), 1), (std::vector<int64_t>{3}));
  const std::vector<int64_t> wide = integers(recipe(ValueKind::kSorted, {kMin, kMax}, 4), 50);
  EXPECT_TRUE(std::is_sorted(wide.begin(), wide.end()));
}

TEST(ElementSource, SortedHasEmptySegmentsForSomeSeeds) {
  int with_ties = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const std::vector<int64_t> v = integers(recipe(ValueKind::kSorted, {int64_t{0}, int64_t{10000}}, seed), 20);
    with_ties += std::adjacent_find(v.begin(), v.end()) != v.end();
  }
  EXPECT_GT(with_ties, 10);
  EXPECT_LT(with_ties, 40);
}

TEST(ElementSource, PermutationHoldsEachIndexOnceFromWhereverItIsRead) {
  for (int64_t numel : {1, 2, 6, 97, 100, 1024}) {
    const ValueRecipe r = recipe(ValueKind::kPermutation, {}, 11);
    std::vector<int64_t> v = integers(r, numel);
    for (int64_t i = 0; i < numel; ++i) ASSERT_EQ(std::get<int64_t>(ElementSource(r, numel).at(i)), v[i]);
    std::sort(v.begin(), v.end());
    for (int64_t i = 0; i < numel; ++i) ASSERT_EQ(v[static_cast<size_t>(i)], i);
  }
}

TEST(ElementSource, TableKindsPointAtTheRecipesNumbers) {
  const ValueRecipe list = recipe(ValueKind::kList, {int64_t{4}, 0.5, int64_t{6}});
  EXPECT_TRUE(same_number(ElementSource(list, 7).at(4), 0.5));
  const ValueRecipe hot = recipe(ValueKind::kOneHot, {int64_t{-1}, int64_t{9}, int64_t{2}});
  EXPECT_TRUE(same_number(ElementSource(hot, 5).at(4), int64_t{9}));
  EXPECT_TRUE(same_number(ElementSource(hot, 5).at(0), int64_t{2}));
  const ValueRecipe choice = recipe(ValueKind::kChoice, {int64_t{0}, int64_t{1}, int64_t{2}}, 1);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 100; ++i) seen.insert(ElementSource(choice, 100).table_index(i));
  EXPECT_EQ(seen, (std::set<int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace aotifuzz
