#include "core/element_convert.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace aotifuzz {
namespace {

struct KnownBits {
  uint32_t f32;
  uint16_t f16, bf16;
  uint8_t e4m3fn, e5m2, e4m3fnuz, e5m2fnuz, e8m0fnu;
};

// Printed by torch 2.11 (tensor.to(dtype).view(int)): ties, subnormals, the edges of each format, NaN and Inf.
constexpr KnownBits kKnown[] = {
    {0x00000000, 0x0000, 0x0000, 0x00, 0x00, 0x00, 0x00, 0x00},  // 0.0
    {0x80000000, 0x8000, 0x8000, 0x80, 0x80, 0x00, 0x00, 0x00},  // -0.0
    {0x3f800000, 0x3c00, 0x3f80, 0x38, 0x3c, 0x40, 0x40, 0x7f},  // 1.0
    {0xbf800000, 0xbc00, 0xbf80, 0xb8, 0xbc, 0xc0, 0xc0, 0x7f},  // -1.0
    {0x3dcccccd, 0x2e66, 0x3dcd, 0x1d, 0x2e, 0x25, 0x32, 0x7c},  // 0.1
    {0x3eaaaaab, 0x3555, 0x3eab, 0x2b, 0x35, 0x33, 0x39, 0x7d},  // 0.3333333333333333
    {0x43e00000, 0x5f00, 0x43e0, 0x7e, 0x5f, 0x80, 0x63, 0x88},  // 448.0
    {0x43e80000, 0x5f40, 0x43e8, 0x7e, 0x5f, 0x80, 0x63, 0x88},  // 464.0
    {0x43e84000, 0x5f42, 0x43e8, 0x7f, 0x5f, 0x80, 0x63, 0x88},  // 464.5
    {0x43f00000, 0x5f80, 0x43f0, 0x7f, 0x60, 0x80, 0x64, 0x88},  // 480.0
    {0x43700000, 0x5b80, 0x4370, 0x77, 0x5c, 0x7f, 0x60, 0x87},  // 240.0
    {0x4377e666, 0x5bbf, 0x4378, 0x77, 0x5c, 0x7f, 0x60, 0x87},  // 247.9
    {0x43780000, 0x5bc0, 0x4378, 0x78, 0x5c, 0x80, 0x60, 0x87},  // 248.0
    {0x47600000, 0x7b00, 0x4760, 0x7f, 0x7b, 0x80, 0x7f, 0x8f},  // 57344.0
    {0x476fff00, 0x7b80, 0x4770, 0x7f, 0x7b, 0x80, 0x7f, 0x8f},  // 61439.0
    {0x47700000, 0x7b80, 0x4770, 0x7f, 0x7c, 0x80, 0x80, 0x8f},  // 61440.0
    {0x477fe000, 0x7bff, 0x4780, 0x7f, 0x7c, 0x80, 0x80, 0x8f},  // 65504.0
    {0x477fef00, 0x7bff, 0x4780, 0x7f, 0x7c, 0x80, 0x80, 0x8f},  // 65519.0
    {0x477ff000, 0x7c00, 0x4780, 0x7f, 0x7c, 0x80, 0x80, 0x8f},  // 65520.0
    {0x47800000, 0x7c00, 0x4780, 0x7f, 0x7c, 0x80, 0x80, 0x8f},  // 65536.0
    {0x33800000, 0x0001, 0x3380, 0x00, 0x00, 0x00, 0x00, 0x67},  // 5.960464477539063e-08
    {0x33000000, 0x0000, 0x3300, 0x00, 0x00, 0x00, 0x00, 0x66},  // 2.9802322387695312e-08
    {0x33000347, 0x0001, 0x3300, 0x00, 0x00, 0x00, 0x00, 0x66},  // 2.980530261993408e-08
    {0x3380d959, 0x0001, 0x3381, 0x00, 0x00, 0x00, 0x00, 0x67},  // 6e-08
    {0x33800000, 0x0001, 0x3380, 0x00, 0x00, 0x00, 0x00, 0x67},  // 5.9604645e-08
    {0x3b000000, 0x1800, 0x3b00, 0x01, 0x18, 0x02, 0x1c, 0x76},  // 0.001953125
    {0x3a800000, 0x1400, 0x3a80, 0x00, 0x14, 0x01, 0x18, 0x75},  // 0.0009765625
    {0x3ac00000, 0x1600, 0x3ac0, 0x01, 0x16, 0x02, 0x1a, 0x76},  // 0.00146484375
    {0x37000000, 0x0080, 0x3700, 0x00, 0x00, 0x00, 0x01, 0x6e},  // 7.62939453125e-06
    {0x37800000, 0x0100, 0x3780, 0x00, 0x01, 0x00, 0x02, 0x6f},  // 1.52587890625e-05
    {0x36800000, 0x0040, 0x3680, 0x00, 0x00, 0x00, 0x00, 0x6d},  // 3.814697265625e-06
    {0x37fba882, 0x01f7, 0x37fc, 0x00, 0x02, 0x00, 0x04, 0x70},  // 3e-05
    {0x387fda40, 0x03ff, 0x3880, 0x00, 0x04, 0x00, 0x08, 0x71},  // 6.1e-05
    {0x000116c2, 0x0000, 0x0001, 0x00, 0x00, 0x00, 0x00, 0x00},  // 1e-40
    {0x00400000, 0x0000, 0x0040, 0x00, 0x00, 0x00, 0x00, 0x00},  // 5.877471754111438e-39
    {0x00600000, 0x0000, 0x0060, 0x00, 0x00, 0x00, 0x00, 0x01},  // 8.816207631167156e-39
    {0x00c00000, 0x0000, 0x00c0, 0x00, 0x00, 0x00, 0x00, 0x02},  // 1.7632415262334313e-38
    {0x7f7fc99e, 0x7c00, 0x7f80, 0x7f, 0x7c, 0x80, 0x80, 0xff},  // 3.4e+38
    {0x7f800000, 0x7c00, 0x7f80, 0x7f, 0x7c, 0x80, 0x80, 0xff},  // inf
    {0xff800000, 0xfc00, 0xff80, 0xff, 0xfc, 0x80, 0x80, 0xff},  // -inf
    {0x7fc00000, 0x7e00, 0x7fc0, 0x7f, 0x7f, 0x80, 0x80, 0xff},  // nan
    {0x45001000, 0x6800, 0x4500, 0x7f, 0x68, 0x80, 0x6c, 0x8a},  // 2049.0
    {0x45003000, 0x6802, 0x4500, 0x7f, 0x68, 0x80, 0x6c, 0x8a},  // 2051.0
    {0x43808000, 0x5c04, 0x4380, 0x78, 0x5c, 0x80, 0x60, 0x87},  // 257.0
    {0x43818000, 0x5c0c, 0x4382, 0x78, 0x5c, 0x80, 0x60, 0x87},  // 259.0
    {0xb089705f, 0x8000, 0xb089, 0x80, 0x80, 0x00, 0x00, 0x61},  // -1e-09
};

TEST(ElementConvert, SmallFloatsHaveTheBitsThatTorchGives) {
  for (const KnownBits& known : kKnown) {
    const float value = std::bit_cast<float>(known.f32);
    EXPECT_EQ(to_f16_bits(value), known.f16) << value;
    EXPECT_EQ(to_bf16_bits(value), known.bf16) << value;
    EXPECT_EQ(to_f8e4m3fn_bits(value), known.e4m3fn) << value;
    EXPECT_EQ(to_f8e5m2_bits(value), known.e5m2) << value;
    EXPECT_EQ(to_f8e4m3fnuz_bits(value), known.e4m3fnuz) << value;
    EXPECT_EQ(to_f8e5m2fnuz_bits(value), known.e5m2fnuz) << value;
    EXPECT_EQ(to_f8e8m0fnu_bits(value), known.e8m0fnu) << value;
  }
}

float f16_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
}

TEST(ElementConvert, EveryFiniteF16SurvivesAndMidpointsGoToTheEvenNeighbour) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float value = f16_value(static_cast<uint16_t>(bits));
    ASSERT_EQ(to_f16_bits(value), bits);
    ASSERT_EQ(to_f16_bits(-value), bits | 0x8000);
    if (bits + 1 == 0x7c00) continue;
    const float middle = (value + f16_value(static_cast<uint16_t>(bits + 1))) / 2;
    ASSERT_EQ(to_f16_bits(middle), (bits & 1) == 0 ? bits : bits + 1);
    ASSERT_EQ(to_f16_bits(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(to_f16_bits(std::nextafter(middle, 1e9f)), bits + 1);
  }
}

TEST(ElementConvert, EveryBf16SurvivesAndMidpointsGoToTheEvenNeighbour) {
  for (uint32_t bits = 0; bits < 0x7f80; ++bits) {
    ASSERT_EQ(to_bf16_bits(std::bit_cast<float>(bits << 16)), bits);
    ASSERT_EQ(to_bf16_bits(std::bit_cast<float>((bits << 16) | 0x8000)), bits + (bits & 1));
    ASSERT_EQ(to_bf16_bits(std::bit_cast<float>((bits << 16) | 0x7fff)), bits);
    ASSERT_EQ(to_bf16_bits(std::bit_cast<float>((bits << 16) | 0x8001)), bits + 1);
  }
}

template <class T>
T converted(Number value, Dtype dtype) {
  T out{};
  convert_number(value, dtype, &out);
  return out;
}

TEST(ElementConvert, IntegersWrapToTheWidth) {
  EXPECT_EQ(converted<uint8_t>(int64_t{-1}, Dtype::kU8), 255);
  EXPECT_EQ(converted<int8_t>(int64_t{200}, Dtype::kI8), -56);
  EXPECT_EQ(converted<int16_t>(int64_t{1} << 40, Dtype::kI16), 0);
  EXPECT_EQ(converted<int32_t>((int64_t{1} << 31) + 5, Dtype::kI32), std::numeric_limits<int32_t>::min() + 5);
  EXPECT_EQ(converted<int64_t>(std::numeric_limits<int64_t>::min(), Dtype::kI64), std::numeric_limits<int64_t>::min());
}

TEST(ElementConvert, RealsBecomeIntegersByTruncationAndSaturation) {
  EXPECT_EQ(converted<int32_t>(-2.9, Dtype::kI32), -2);
  EXPECT_EQ(converted<int64_t>(1e300, Dtype::kI64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(converted<int64_t>(-1e300, Dtype::kI64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(converted<int64_t>(std::nan(""), Dtype::kI64), 0);
  EXPECT_EQ(converted<int64_t>(-9223372036854775808.0, Dtype::kI64), std::numeric_limits<int64_t>::min());
}

TEST(ElementConvert, BoolIsWhatIsNotZero) {
  EXPECT_EQ(converted<uint8_t>(0.3, Dtype::kBool), 1);
  EXPECT_EQ(converted<uint8_t>(-0.0, Dtype::kBool), 0);
  EXPECT_EQ(converted<uint8_t>(std::nan(""), Dtype::kBool), 1);
  EXPECT_EQ(converted<uint8_t>(int64_t{256}, Dtype::kBool), 1);
}

TEST(ElementConvert, DoublesBecomeFloatsByRoundingToNearestEven) {
  EXPECT_EQ(converted<float>(1.0 + std::ldexp(1, -24), Dtype::kF32), 1.0f);
  EXPECT_EQ(converted<float>(1.0 + 3 * std::ldexp(1, -24), Dtype::kF32), 1.0f + 2 * std::ldexp(1.0f, -23));
  EXPECT_TRUE(std::signbit(converted<float>(-0.0, Dtype::kF32)));
  EXPECT_EQ(converted<float>(1e300, Dtype::kF32), std::numeric_limits<float>::infinity());
}

TEST(ElementConvert, ComplexElementsGetAnImaginaryPartOfZero) {
  EXPECT_EQ((converted<std::array<float, 2>>(2.5, Dtype::kC64)), (std::array<float, 2>{2.5f, 0.0f}));
  EXPECT_EQ((converted<std::array<double, 2>>(int64_t{3}, Dtype::kC128)), (std::array<double, 2>{3.0, 0.0}));
  EXPECT_EQ((converted<std::array<uint16_t, 2>>(1.0, Dtype::kC32)), (std::array<uint16_t, 2>{0x3c00, 0}));
}

}  // namespace
}  // namespace aotifuzz
