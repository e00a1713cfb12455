#include "oracles/quick_compare.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace aotifuzz {
namespace {

OutputFacts facts(double budget, bool elementwise) {
  OutputFacts out;
  out.rounding_budget = budget;
  out.elementwise_only = elementwise;
  return out;
}

size_t suspects(const at::Tensor& expected, const at::Tensor& actual, const OutputFacts& facts) {
  return quick_compare(HostValues(expected), HostValues(actual), facts).suspects.size();
}

TEST(QuickCompare, WithoutRoundingOpsValuesMustBeEqual) {
  const at::Tensor x = at::ones({4});
  EXPECT_EQ(suspects(x, x.clone(), facts(0, true)), 0u);
  EXPECT_EQ(suspects(x, x * (1 + 0x1p-23f), facts(0, true)), 4u);
}

TEST(QuickCompare, ElementwiseOutputsHaveNoAbsoluteSlack) {
  const at::Tensor x = at::tensor({1000.0f, 1e-6f});
  const at::Tensor moved = at::tensor({1000.0f, 1.01e-6f});
  EXPECT_EQ(suspects(x, moved, facts(1, true)), 1u);
  const QuickResult reduction = quick_compare(HostValues(x), HostValues(moved), facts(1, false));
  EXPECT_EQ(reduction.suspects.size(), 0u);
  EXPECT_EQ(reduction.only_absolute.size(), 1u);
}

TEST(QuickCompare, TheLargestPermittedDifferenceIsAShareOfItsBound) {
  const at::Tensor x = at::full({4}, 1.0f);
  const auto share = [&](double units) {
    const at::Tensor moved = x.clone();
    moved[2] += units * 0x1p-23;
    return quick_compare(HostValues(x), HostValues(moved), facts(8, true)).share;
  };
  EXPECT_EQ(share(0), 0);
  EXPECT_GT(share(1), 0);
  EXPECT_GT(share(4), 2 * share(1));
  EXPECT_LE(share(4), 1);
  // 2 + 2 * 8 units of 2^-24 are nine of these; what lies beyond is a suspect and counts in no share.
  EXPECT_DOUBLE_EQ(share(9), 1);
  EXPECT_EQ(share(10), 0);
}

TEST(QuickCompare, OneHugeElementHidesNoOther) {
  const at::Tensor x = at::ones({9});
  x[0] = std::numeric_limits<float>::lowest();  // as a mask leaves it
  const at::Tensor wrong = x.clone();
  wrong[5] = 2.0f;
  const QuickResult result = quick_compare(HostValues(x), HostValues(wrong), facts(8, false));
  EXPECT_EQ(result.suspects.size(), 1u);
  EXPECT_EQ(result.only_absolute.size(), 0u);
}

TEST(QuickCompare, SpecialValuesMatchOnlyThemselves) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const at::Tensor x = at::tensor({nan, infinity, 1.0f, -infinity});
  EXPECT_EQ(suspects(x, at::tensor({nan, infinity, 1.0f, -infinity}), facts(8, false)), 0u);
  EXPECT_EQ(suspects(x, at::tensor({1.0f, 3e38f, nan, infinity}), facts(8, false)), 4u);
}

TEST(QuickCompare, IntegersAndTruthValuesAreEqualOrNot) {
  EXPECT_EQ(suspects(at::arange(5, at::kLong), at::arange(5, at::kLong) + 1, facts(64, false)), 5u);
  EXPECT_EQ(suspects(at::ones({3}, at::kBool), at::zeros({3}, at::kBool), facts(64, false)), 3u);
}

TEST(QuickCompare, SixteenBitBoundStaysNarrowHoweverLongTheProgram) {
  const at::Tensor x = at::ones({4}, at::kBFloat16);
  EXPECT_EQ(suspects(x, (x.to(at::kFloat) * 1.1f).to(at::kBFloat16), facts(1000, false)), 4u);
}

TEST(QuickCompare, SaysWhetherTheOutputIsConstant) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto constant = [](const at::Tensor& x) { return quick_compare(HostValues(x), HostValues(x), {}).constant; };
  EXPECT_TRUE(constant(at::zeros({9})));
  EXPECT_TRUE(constant(at::full({9}, nan)));
  EXPECT_TRUE(constant(at::zeros({1})));
  EXPECT_TRUE(constant(at::zeros({0})));
  EXPECT_FALSE(constant(at::full({1}, 3.0f)));
  EXPECT_FALSE(constant(at::arange(9)));
}

}  // namespace
}  // namespace aotifuzz
