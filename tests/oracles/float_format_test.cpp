#include "oracles/float_format.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Half.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aotifuzz {
namespace {

TEST(FloatFormat, RoundsToNearestAsC10Does) {
  for (int i = -4000; i < 4000; ++i) {
    const double x = std::ldexp(1.0 + 0.000317 * i, i % 40 - 20);
    EXPECT_EQ(round_nearest(x, float_format(Dtype::kF32)), static_cast<double>(static_cast<float>(x)));
    // c10 goes through float32, so only values that are float32 compare.
    const float f = static_cast<float>(x);
    EXPECT_EQ(round_nearest(f, float_format(Dtype::kBF16)), static_cast<float>(c10::BFloat16(f))) << f;
    EXPECT_EQ(round_nearest(f, float_format(Dtype::kF16)), static_cast<float>(c10::Half(f))) << f;
  }
}

TEST(FloatFormat, SubnormalsHaveTheSpacingOfTheLeastNormal) {
  const FloatFormat half = float_format(Dtype::kF16);
  EXPECT_EQ(half.spacing(0), 0x1p-24);
  EXPECT_EQ(round_nearest(0x1.8p-24, half), 0x1p-23);  // tie to even
  EXPECT_EQ(round_down(0x1.8p-24, half), 0x1p-24);
}

TEST(FloatFormat, DownAndUpEncloseWhatIsNotOnTheGrid) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF8E4M3FN, Dtype::kF8E5M2}) {
    const FloatFormat format = float_format(dtype);
    for (double x : {0.1, -0.1, 3.14159, -77.7, 1e-3}) {
      EXPECT_LT(round_down(x, format), x) << dtype_name(dtype);
      EXPECT_GT(round_up(x, format), x) << dtype_name(dtype);
      EXPECT_EQ(round_down(round_down(x, format), format), round_down(x, format));
    }
    EXPECT_EQ(round_up(1.0, format), 1.0);
    EXPECT_EQ(round_down(-2.0, format), -2.0);
  }
}

TEST(FloatFormat, PastTheEndIsInfinityOrTheGreatestValue) {
  const FloatFormat half = float_format(Dtype::kF16);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(round_nearest(65519, half), 65504);
  EXPECT_EQ(round_nearest(65520, half), infinity);
  EXPECT_EQ(round_down(70000, half), 65504);
  EXPECT_EQ(round_up(-70000, half), -65504);
  EXPECT_EQ(round_nearest(-1e9, half), -infinity);
}

TEST(FloatFormat, IntegersHaveNone) { EXPECT_EQ(float_format(Dtype::kI64).precision, 0); }

}  // namespace
}  // namespace aotifuzz
