#include <array>
#include <limits>

#include "generators/style_recipes.h"
#include "generators/value_styles.h"

namespace aotifuzz {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct FloatLimits {
  double largest, normal_min, denormal_min;
};

FloatLimits float_limits(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
    case Dtype::kC128:
      return {1.7976931348623157e308, 2.2250738585072014e-308, 5e-324};
    case Dtype::kF16:
    case Dtype::kC32:
      return {65504, 6.103515625e-05, 5.9604644775390625e-08};
    case Dtype::kBF16:
      return {3.3895313892515355e38, 1.1754943508222875e-38, 9.183549615799121e-41};
    case Dtype::kF8E4M3FN:
      return {448, 0.015625, 0.001953125};
    case Dtype::kF8E5M2:
      return {57344, 6.103515625e-05, 1.52587890625e-05};
    case Dtype::kF8E4M3FNUZ:
      return {240, 0.0078125, 0.0009765625};
    case Dtype::kF8E5M2FNUZ:
      return {57344, 3.0517578125e-05, 7.62939453125e-06};
    default:
      return {3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45};
  }
}

const std::array<Number, 6> kPlainNumbers = {0.0, 1.0, -1.0, 2.5, 0.1, 100.0};

ValueRecipe float_normal(Choices& c, const ValueContext&) { return normal(c, 0, 1); }
ValueRecipe float_uniform(Choices& c, const ValueContext&) {
  return c.below(2) == 0 ? uniform(c, -1, 1) : uniform(c, 0, 1);
}
ValueRecipe float_small_ints(Choices& c, const ValueContext&) { return ints(c, -8, 8); }
ValueRecipe float_ramp(Choices& c, const ValueContext&) {
  static const std::array<double, 3> starts = {0, 1, -3}, steps = {1, 0.25, -1};
  return {ValueKind::kRamp, {starts[c.below(3)], steps[c.below(3)]}, 0, {}};
}
ValueRecipe float_constant(Choices& c, const ValueContext&) {
  return constant(kPlainNumbers[c.below(kPlainNumbers.size())]);
}
ValueRecipe float_ties(Choices& c, const ValueContext&) {
  return c.below(2) == 0 ? choice(c, {0.0, 1.0}) : choice(c, {-1.0, 0.0, 2.0});
}
ValueRecipe float_steps(Choices& c, const ValueContext&) {
  return {ValueKind::kSteps, {c.below(2) == 0 ? 0.1 : -3.0, 6.0, 0.1}, draw_seed(c), {}};
}
ValueRecipe float_wide(Choices& c, const ValueContext&) { return normal(c, 0, c.below(2) == 0 ? 30.0 : 1000.0); }
ValueRecipe float_permutation(Choices& c, const ValueContext&) {
  return {ValueKind::kPermutation, {}, draw_seed(c), {}};
}
ValueRecipe float_signed_zeros(Choices& c, const ValueContext&) { return choice(c, {0.0, -0.0, 1.0, -1.0}); }
ValueRecipe float_denormals(Choices& c, const ValueContext& x) {
  const FloatLimits limits = float_limits(x.dtype);
  return choice(c, {limits.denormal_min, -limits.denormal_min, limits.normal_min, 0.0, 1.0});
}
ValueRecipe float_extremes(Choices& c, const ValueContext& x) {
  // Overflow in every op makes each element a matter for the referee: a hundred times the cost, for nothing that a
  // small tensor does not show.
  constexpr int64_t kReferee = 1024;
  if (x.numel > kReferee) return float_wide(c, x);
  const FloatLimits limits = float_limits(x.dtype);
  return choice(c, {limits.largest, -limits.largest, limits.normal_min, 1.0, 0.0});
}
ValueRecipe float_one_hot(Choices& c, const ValueContext& x) {
  return one_hot(c, x, c.below(2) == 0 ? 1.0 : -1.0, 0.0);
}
ValueRecipe float_one_nan(Choices& c, const ValueContext& x) { return patched(c, x, normal(c, 0, 1), kNan); }
ValueRecipe float_one_inf(Choices& c, const ValueContext& x) {
  return patched(c, x, normal(c, 0, 1), c.below(2) == 0 ? kInf : -kInf);
}
ValueRecipe float_all_nan(Choices&, const ValueContext&) { return constant(kNan); }
ValueRecipe float_non_finite(Choices& c, const ValueContext&) { return choice(c, {kInf, -kInf, kNan, 0.0, 1.0}); }

constexpr std::array<ValueStyle, 17> kFloat = {{
    {"normal", 26, false, float_normal},
    {"small-ints", 16, false, float_small_ints},
    {"uniform", 8, false, float_uniform},
    {"ramp", 7, false, float_ramp},
    {"constant", 7, false, float_constant},
    {"ties", 8, false, float_ties},
    {"steps", 8, false, float_steps},
    {"wide", 4, false, float_wide},
    {"permutation", 5, false, float_permutation},
    {"signed-zeros", 3, false, float_signed_zeros},
    {"denormals", 1, false, float_denormals},
    {"extremes", 2, false, float_extremes},
    {"one-hot", 3, false, float_one_hot},
    {"one-nan", 4, true, float_one_nan},
    {"one-inf", 3, true, float_one_inf},
    {"all-nan", 1, true, float_all_nan},
    {"non-finite", 2, true, float_non_finite},
}};

ValueRecipe divisor_away_from_zero(Choices& c, const ValueContext&) { return uniform(c, 0.5, 2); }
ValueRecipe divisor_steps(Choices& c, const ValueContext&) {
  return {ValueKind::kSteps, {0.1, 2.0, 0.1}, draw_seed(c), {}};
}
ValueRecipe divisor_small_ints(Choices& c, const ValueContext&) { return choice(c, {1.0, -1.0, 2.0, 3.0, -7.0}); }
ValueRecipe divisor_constant(Choices& c, const ValueContext&) {
  static const std::array<double, 5> values = {1, 0.1, 0.2, 3, -1};
  return constant(values[c.below(5)]);
}
ValueRecipe divisor_one_zero(Choices& c, const ValueContext& x) {
  return patched(c, x, uniform(c, 0.5, 2), c.below(2) == 0 ? 0.0 : -0.0);
}

constexpr std::array<ValueStyle, 8> kFloatDivisor = {{
    {"uniform", 6, false, divisor_away_from_zero},
    {"steps", 6, false, divisor_steps},
    {"small-ints", 3, false, divisor_small_ints},
    {"constant", 2, false, divisor_constant},
    {"normal", 3, false, float_normal},
    {"extremes", 1, false, float_extremes},
    {"one-zero", 3, true, divisor_one_zero},
    {"non-finite", 1, true, float_non_finite},
}};

ValueRecipe sorted_ramp(Choices& c, const ValueContext&) {
  static const std::array<double, 3> starts = {0, -3, 1}, steps = {1, 0.5, 0.1};
  return {ValueKind::kRamp, {starts[c.below(3)], steps[c.below(3)]}, 0, {}};
}
ValueRecipe sorted_with_ties(Choices& c, const ValueContext&) {
  return {ValueKind::kSorted, {int64_t{-4}, int64_t{4}}, draw_seed(c), {}};
}
ValueRecipe sorted_last_inf(Choices& c, const ValueContext& x) {
  ValueRecipe recipe = sorted_ramp(c, x);
  recipe.patches.emplace_back(-1, kInf);
  return recipe;
}

constexpr std::array<ValueStyle, 6> kFloatSorted = {{
    {"ramp", 6, false, sorted_ramp},
    {"ties", 4, false, sorted_with_ties},
    {"constant", 1, false, float_constant},
    {"unsorted", 3, true, float_normal},
    {"one-inf", 1, true, sorted_last_inf},
    {"one-nan", 1, true, float_one_nan},
}};

}  // namespace

std::span<const ValueStyle> float_styles(ValueRole::Kind role) {
  switch (role) {
    case ValueRole::Kind::kDivisor:
      return kFloatDivisor;
    case ValueRole::Kind::kSorted:
      return kFloatSorted;
    default:
      return kFloat;
  }
}

}  // namespace aotifuzz
