#include "oracles/float_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace aotifuzz {

double FloatFormat::unit() const { return std::ldexp(1.0, -precision); }

double FloatFormat::spacing(double x) const {
  if (!std::isfinite(x)) return std::numeric_limits<double>::infinity();
  const int exponent = x == 0 ? exponent_min : std::max(std::ilogb(x), exponent_min);
  return std::ldexp(1.0, exponent - precision + 1);
}

FloatFormat float_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
    case Dtype::kC128:
      return {53, -1022, std::numeric_limits<double>::max()};
    case Dtype::kF32:
    case Dtype::kC64:
      return {24, -126, std::numeric_limits<float>::max()};
    case Dtype::kF16:
    case Dtype::kC32:
      return {11, -14, 65504};
    case Dtype::kBF16:
      return {8, -126, 3.3895313892515355e38};
    case Dtype::kF8E4M3FN:
      return {4, -6, 448};
    case Dtype::kF8E5M2:
      return {3, -14, 57344};
    case Dtype::kF8E4M3FNUZ:
      return {4, -7, 240};
    case Dtype::kF8E5M2FNUZ:
      return {3, -15, 57344};
    case Dtype::kF8E8M0FNU:
      return {1, -127, 1.7014118346046923e38};
    default:
      return {};
  }
}

namespace {

enum class Direction { kNearest, kDown, kUp };

double round_to(double x, const FloatFormat& format, Direction direction) {
  if (!std::isfinite(x) || x == 0 || format.precision >= 53) return x;
  const double spacing = format.spacing(x);
  const double steps = x / spacing;  // exact: a power of two, and |steps| < 2^53
  // nearbyint rounds ties to even in the default mode, and the significand's parity is that of `steps`.
  const double whole = direction == Direction::kNearest ? std::nearbyint(steps)
                       : direction == Direction::kDown  ? std::floor(steps)
                                                        : std::ceil(steps);
  const double rounded = whole * spacing;
  if (rounded > format.max) return direction == Direction::kDown ? format.max : std::numeric_limits<double>::infinity();
  if (rounded < -format.max)
    return direction == Direction::kUp ? -format.max : -std::numeric_limits<double>::infinity();
  return rounded;
}

}  // namespace

double round_nearest(double x, const FloatFormat& format) { return round_to(x, format, Direction::kNearest); }
double round_down(double x, const FloatFormat& format) { return round_to(x, format, Direction::kDown); }
double round_up(double x, const FloatFormat& format) { return round_to(x, format, Direction::kUp); }

}  // namespace aotifuzz
