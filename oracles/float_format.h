#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace aotifuzz {

/// A binary floating format as IEEE 754 and the OCP 8-bit specification describe it; complex types give their part's.
struct FloatFormat {
  int precision = 0;     ///< significand bits, hidden one included; 0 = not a floating type
  int exponent_min = 0;  ///< of the least normal number, 2^exponent_min
  double max = 0;        ///< greatest finite value; beyond it rounding gives infinity
  double unit() const;   ///< unit roundoff u = 2^-precision
  /// Distance between neighbours around `x`; of subnormals below the least normal number. +inf for a non-finite x.
  double spacing(double x) const;
};
FloatFormat float_format(Dtype dtype);

/// `x` rounded to the grid of `format`; what is already on it stays as it is, NaN and infinities too.
double round_nearest(double x, const FloatFormat& format);  ///< ties to even
double round_down(double x, const FloatFormat& format);
double round_up(double x, const FloatFormat& format);

}  // namespace aotifuzz
