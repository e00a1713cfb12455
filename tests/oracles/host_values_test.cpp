#include "oracles/host_values.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace aotifuzz {
namespace {

TEST(HostValues, ReadsStridedTensorsInRowMajorOrder) {
  const HostValues values(at::arange(6, at::kLong).view({2, 3}).t());
  const int64_t expected[] = {0, 3, 1, 4, 2, 5};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(values.integer(i), expected[i]);
}

TEST(HostValues, ReadsEveryFloatingTypeExactly) {
  for (at::ScalarType type :
       {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
    const HostValues values(at::tensor({0.5, -1.5}, at::kFloat).to(type));
    EXPECT_EQ(values.real(0), 0.5) << type;
    EXPECT_EQ(values.real(1), -1.5) << type;
  }
}

TEST(HostValues, ComplexNumbersArePairs) {
  const HostValues values(at::complex(at::ones({2}), at::full({2}, 3.0f)));
  ASSERT_EQ(values.size(), 4);
  EXPECT_EQ(values.real(1), 3);
}

TEST(HostValues, LazyConjugationIsSeen) {
  const HostValues values(at::conj(at::complex(at::ones({1}), at::full({1}, 3.0f))));
  EXPECT_EQ(values.real(1), -3);
}

TEST(HostValues, NanEqualsNanAndZerosAreEqual) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const HostValues a(at::tensor({nan, 0.0f, 1.0f})), b(at::tensor({-nan, -0.0f, nan}));
  EXPECT_TRUE(HostValues::same(a, b, 0));
  EXPECT_TRUE(HostValues::same(a, b, 1));
  EXPECT_FALSE(HostValues::same(a, b, 2));
}

TEST(HostValues, TextIsShortAndReadsBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(HostValues(at::ones({1}, at::kBool)).text(0), "true");
  EXPECT_EQ(HostValues(at::full({1}, -3, at::kInt)).text(0), "-3");
}

TEST(HostValues, IndexTextIsRowMajor) {
  EXPECT_EQ(index_text(7, {2, 3, 2}), "[1, 0, 1]");
  EXPECT_EQ(index_text(0, {}), "[]");
}

}  // namespace
}  // namespace aotifuzz
