#include "core/dtype.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace aotifuzz {
namespace {

TEST(Dtype, EveryNameReadsBackToItsDtype) {
  int seen = 0;
  for (int64_t code = 1; code < 64; ++code) {
    const std::optional<Dtype> dtype = dtype_from_schema(code);
    if (!dtype) continue;
    ++seen;
    EXPECT_EQ(static_cast<int64_t>(*dtype), code);
    EXPECT_EQ(dtype_from_name(dtype_name(*dtype)), dtype) << dtype_name(*dtype);
    EXPECT_GT(dtype_bytes(*dtype), 0) << dtype_name(*dtype);
    EXPECT_TRUE(dtype_torch_name(*dtype).starts_with("torch."));
  }
  EXPECT_EQ(seen, 21);
}

TEST(Dtype, UnknownNamesAndCodesAreNotGuessed) {
  EXPECT_EQ(dtype_from_name("float32"), std::nullopt);
  EXPECT_EQ(dtype_from_name("unknown"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
  EXPECT_EQ(dtype_from_schema(14), std::nullopt);
  EXPECT_EQ(dtype_from_schema(-1), std::nullopt);
}

TEST(Dtype, FamiliesDoNotOverlap) {
  for (int64_t code = 1; code < 64; ++code)
    if (const std::optional<Dtype> dtype = dtype_from_schema(code)) {
      const int families = dtype_is_floating(*dtype) + dtype_is_complex(*dtype) + dtype_is_integral(*dtype);
      EXPECT_EQ(families, *dtype == Dtype::kBool ? 0 : 1) << dtype_name(*dtype);
    }
}

TEST(Dtype, ComplexNamesCountBothParts) {
  EXPECT_EQ(dtype_from_name("c64"), Dtype::kC64);
  EXPECT_EQ(dtype_bytes(Dtype::kC64), 8);
  EXPECT_EQ(dtype_torch_name(Dtype::kC32), "torch.complex32");
  EXPECT_EQ(dtype_bytes(Dtype::kC32), 4);
}

TEST(Dtype, IntegralRangesAreExact) {
  EXPECT_EQ(dtype_integral_range(Dtype::kI8).min, -128);
  EXPECT_EQ(dtype_integral_range(Dtype::kU8).max, 255);
  EXPECT_EQ(dtype_integral_range(Dtype::kI32).min, INT32_MIN);
  EXPECT_EQ(dtype_integral_range(Dtype::kU32).max, int64_t{UINT32_MAX});
  EXPECT_EQ(dtype_integral_range(Dtype::kI64).min, INT64_MIN);
  EXPECT_EQ(dtype_integral_range(Dtype::kU64).max, INT64_MAX);
  EXPECT_EQ(dtype_integral_range(Dtype::kBool).max, 1);
}

}  // namespace
}  // namespace aotifuzz
