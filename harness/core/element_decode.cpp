#include "core/element_decode.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/check.h"

namespace aotifuzz {
namespace {

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// A binary format of `exponent` and `mantissa` bits. `finite_only`: no infinity, and of the greatest exponent only the
/// all-ones mantissa is NaN (f8e4m3fn). `one_nan`: -0 stands for NaN, and nothing else is special (the fnuz formats).
struct Format {
  int exponent, mantissa, bias;
  bool finite_only = false, one_nan = false;
};

double decode(uint32_t bits, const Format& format) {
  const int width = 1 + format.exponent + format.mantissa;
  const bool negative = bits >> (width - 1);
  const uint32_t top = (uint32_t{1} << format.exponent) - 1, ones = (uint32_t{1} << format.mantissa) - 1;
  const uint32_t exponent = (bits >> format.mantissa) & top, mantissa = bits & ones;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (format.one_nan && negative && exponent == 0 && mantissa == 0) return kNan;
  if (format.finite_only && exponent == top && mantissa == ones) return kNan;
  double value = 0;
  if (exponent == top && !format.finite_only && !format.one_nan)
    value = mantissa ? kNan : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - format.bias - format.mantissa);
  else
    value = std::ldexp(mantissa + ones + 1, static_cast<int>(exponent) - format.bias - format.mantissa);
  return negative ? -value : value;
}

}  // namespace

Number decode_element(Dtype dtype, const void* element) {
  switch (dtype) {
    case Dtype::kU8:
      return int64_t{load<uint8_t>(element)};
    case Dtype::kI8:
      return int64_t{load<int8_t>(element)};
    case Dtype::kI16:
      return int64_t{load<int16_t>(element)};
    case Dtype::kI32:
      return int64_t{load<int32_t>(element)};
    case Dtype::kI64:
      return load<int64_t>(element);
    case Dtype::kU16:
      return int64_t{load<uint16_t>(element)};
    case Dtype::kU32:
      return int64_t{load<uint32_t>(element)};
    case Dtype::kU64: {
      const uint64_t value = load<uint64_t>(element);
      constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
      return static_cast<int64_t>(value < kMost ? value : kMost);
    }
    case Dtype::kBool:
      return int64_t{load<uint8_t>(element) != 0};
    case Dtype::kF64:
    case Dtype::kC128:
      return load<double>(element);
    case Dtype::kF32:
    case Dtype::kC64:
      return static_cast<double>(load<float>(element));
    case Dtype::kF16:
    case Dtype::kC32:
      return decode(load<uint16_t>(element), {5, 10, 15});
    case Dtype::kBF16:
      return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(element)) << 16));
    case Dtype::kF8E4M3FN:
      return decode(load<uint8_t>(element), {4, 3, 7, true, false});
    case Dtype::kF8E5M2:
      return decode(load<uint8_t>(element), {5, 2, 15});
    case Dtype::kF8E4M3FNUZ:
      return decode(load<uint8_t>(element), {4, 3, 8, false, true});
    case Dtype::kF8E5M2FNUZ:
      return decode(load<uint8_t>(element), {5, 2, 16, false, true});
    case Dtype::kF8E8M0FNU: {
      const uint8_t exponent = load<uint8_t>(element);
      return exponent == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, exponent - 127);
    }
    case Dtype::kUnknown:
      break;
  }
  AOTIFUZZ_CHECK(false) << "no such dtype: " << static_cast<int>(dtype);
  return int64_t{0};
}

}  // namespace aotifuzz
