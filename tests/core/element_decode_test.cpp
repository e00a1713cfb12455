#include "core/element_decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/element_convert.h"

namespace aotifuzz {
namespace {

/// Every pattern of a type of one or two bytes becomes a number that becomes the same pattern, NaN apart.
void expect_reversible(Dtype dtype) {
  const int64_t width = dtype_bytes(dtype);
  int nans = 0;
  for (uint32_t bits = 0; bits < (width == 1 ? 0x100u : 0x10000u); ++bits) {
    uint8_t element[2], back[2];
    std::memcpy(element, &bits, sizeof(element));
    const Number number = decode_element(dtype, element);
    if (std::isnan(to_double(number))) {
      ++nans;
      continue;
    }
    convert_number(number, dtype, back);
    EXPECT_EQ(std::memcmp(element, back, static_cast<size_t>(width)), 0)
        << dtype_name(dtype) << " pattern " << bits << " is " << to_double(number);
  }
  EXPECT_LT(nans, width == 1 ? 7 : 2047) << dtype_name(dtype);
}

TEST(ElementDecode, IsTheReverseOfConversion) {
  for (const Dtype dtype :
       {Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kU16, Dtype::kF16, Dtype::kBF16, Dtype::kF8E4M3FN, Dtype::kF8E5M2,
        Dtype::kF8E4M3FNUZ, Dtype::kF8E5M2FNUZ, Dtype::kF8E8M0FNU})
    expect_reversible(dtype);
}

TEST(ElementDecode, WideTypesAreExact) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(std::get<int64_t>(decode_element(Dtype::kI64, &least)), least);
  const uint64_t most = ~uint64_t{0};
  EXPECT_EQ(std::get<int64_t>(decode_element(Dtype::kU64, &most)), std::numeric_limits<int64_t>::max());
  const double tiny = 5e-324;
  EXPECT_EQ(std::get<double>(decode_element(Dtype::kF64, &tiny)), tiny);
  const float complex[2] = {0.5f, 3};
  EXPECT_EQ(std::get<double>(decode_element(Dtype::kC64, complex)), 0.5);
  const uint8_t two = 2;
  EXPECT_EQ(std::get<int64_t>(decode_element(Dtype::kBool, &two)), 1);
}

}  // namespace
}  // namespace aotifuzz
