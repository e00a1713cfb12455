#include <algorithm>
#include <array>

#include "generators/style_recipes.h"
#include "generators/value_styles.h"

namespace aotifuzz {
namespace {

int64_t least_small(const ValueContext& x) { return is_unsigned(x.dtype) ? 0 : -8; }

ValueRecipe int_small(Choices& c, const ValueContext& x) {
  return ints(c, least_small(x), is_unsigned(x.dtype) ? 15 : 8);
}
ValueRecipe int_whole_range(Choices& c, const ValueContext& x) {
  const IntegralRange range = dtype_integral_range(x.dtype);
  return ints(c, range.min, range.max);
}
ValueRecipe int_positive(Choices& c, const ValueContext& x) {
  return ints(c, 1, std::min<int64_t>(200, dtype_integral_range(x.dtype).max));
}
ValueRecipe int_zero_one(Choices& c, const ValueContext&) { return ints(c, 0, 1); }
ValueRecipe int_constant(Choices& c, const ValueContext& x) {
  static const std::array<int64_t, 4> values = {0, 1, 100, -1};
  return constant(values[c.below(is_unsigned(x.dtype) ? 3 : 4)]);
}
ValueRecipe int_extremes(Choices& c, const ValueContext& x) {
  const IntegralRange range = dtype_integral_range(x.dtype);
  return is_unsigned(x.dtype) ? choice(c, {range.max, int64_t{0}, int64_t{1}})
                              : choice(c, {range.min, int64_t{-1}, int64_t{0}, int64_t{1}, range.max});
}
ValueRecipe int_ramp(Choices& c, const ValueContext& x) {
  const int64_t start = is_unsigned(x.dtype) ? 0 : c.below(2) == 0 ? 0 : -20;
  return {ValueKind::kRamp, {start, int64_t{1}}, 0, {}};
}
ValueRecipe int_permutation(Choices& c, const ValueContext&) { return {ValueKind::kPermutation, {}, draw_seed(c), {}}; }
/// Where float32, float64 and 32-bit arithmetic stop being exact, as far as the dtype reaches.
ValueRecipe int_near_powers(Choices& c, const ValueContext& x) {
  const int64_t top = dtype_integral_range(x.dtype).max;
  static const std::array<int64_t, 5> powers = {int64_t{1} << 53, int64_t{1} << 31, int64_t{1} << 24, int64_t{1} << 16,
                                                int64_t{1} << 7};
  std::vector<int64_t> reachable;
  for (int64_t power : powers)
    if (power < top) reachable.push_back(power);
  if (reachable.empty()) return int_whole_range(c, x);
  const int64_t power = c.pick(reachable);
  return ints(c, power - 8, power + std::min<int64_t>(8, top - power));
}
ValueRecipe int_one_hot(Choices& c, const ValueContext& x) { return one_hot(c, x, int64_t{1}, int64_t{0}); }

constexpr std::array<ValueStyle, 10> kInt = {{
    {"small-ints", 12, false, int_small},
    {"whole-range", 8, false, int_whole_range},
    {"positive", 8, false, int_positive},
    {"ties", 4, false, int_zero_one},
    {"constant", 4, false, int_constant},
    {"extremes", 5, false, int_extremes},
    {"ramp", 4, false, int_ramp},
    {"permutation", 3, false, int_permutation},
    {"near-powers", 3, false, int_near_powers},
    {"one-hot", 2, false, int_one_hot},
}};

ValueRecipe int_divisor_positive(Choices& c, const ValueContext&) { return ints(c, 1, 9); }
ValueRecipe int_divisor_signs(Choices& c, const ValueContext& x) {
  return is_unsigned(x.dtype) ? ints(c, 1, 3)
                              : choice(c, {int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-3}, int64_t{7}});
}
ValueRecipe int_divisor_constant(Choices& c, const ValueContext& x) {
  static const std::array<int64_t, 3> values = {1, 3, -1};
  return constant(values[c.below(is_unsigned(x.dtype) ? 2 : 3)]);
}
ValueRecipe int_divisor_extremes(Choices& c, const ValueContext& x) {
  const IntegralRange range = dtype_integral_range(x.dtype);
  return is_unsigned(x.dtype) ? choice(c, {range.max, int64_t{1}})
                              : choice(c, {int64_t{-1}, int64_t{1}, range.min, range.max});
}
ValueRecipe int_divisor_one_zero(Choices& c, const ValueContext& x) { return patched(c, x, ints(c, 1, 9), int64_t{0}); }
ValueRecipe int_zero(Choices&, const ValueContext&) { return constant(int64_t{0}); }

constexpr std::array<ValueStyle, 6> kIntDivisor = {{
    {"positive", 6, false, int_divisor_positive},
    {"small-ints", 4, false, int_divisor_signs},
    {"constant", 3, false, int_divisor_constant},
    {"extremes", 4, false, int_divisor_extremes},
    {"one-zero", 3, true, int_divisor_one_zero},
    {"zero", 1, true, int_zero},
}};

ValueRecipe int_sorted(Choices& c, const ValueContext& x) {
  return {ValueKind::kSorted,
          {least_small(x), std::min<int64_t>(100, dtype_integral_range(x.dtype).max)},
          draw_seed(c),
          {}};
}

constexpr std::array<ValueStyle, 4> kIntSorted = {{
    {"sorted", 6, false, int_sorted},
    {"ramp", 3, false, int_ramp},
    {"constant", 1, false, int_constant},
    {"unsorted", 3, true, int_small},
}};

}  // namespace

std::span<const ValueStyle> integer_styles(ValueRole::Kind role) {
  switch (role) {
    case ValueRole::Kind::kDivisor:
      return kIntDivisor;
    case ValueRole::Kind::kSorted:
      return kIntSorted;
    default:
      return kInt;
  }
}

}  // namespace aotifuzz
