#pragma once

#include <algorithm>
#include <vector>

#include "core/choices.h"
#include "core/value_recipe.h"
#include "generators/value_styles.h"

namespace aotifuzz {

/// The recipes that the tables of styles are written with. Seeds are drawn, so two draws of a style differ.

inline uint64_t draw_seed(Choices& choices) { return 1 + choices.below(99999); }

inline ValueRecipe constant(Number value) { return {ValueKind::kConst, {value}, 0, {}}; }
inline ValueRecipe ints(Choices& c, int64_t lo, int64_t hi) {
  return {ValueKind::kInts, {lo, std::max(lo, hi)}, draw_seed(c), {}};
}
inline ValueRecipe normal(Choices& c, double mean, double std) {
  return {ValueKind::kNormal, {mean, std}, draw_seed(c), {}};
}
inline ValueRecipe uniform(Choices& c, double lo, double hi) {
  return {ValueKind::kUniform, {lo, hi}, draw_seed(c), {}};
}
inline ValueRecipe choice(Choices& c, std::vector<Number> numbers) {
  return {ValueKind::kChoice, std::move(numbers), draw_seed(c), {}};
}
inline ValueRecipe one_hot(Choices& c, const ValueContext& x, Number value, Number rest) {
  const int64_t index = x.numel > 1 ? static_cast<int64_t>(c.below(static_cast<uint64_t>(x.numel))) : 0;
  return {ValueKind::kOneHot, {index, value, rest}, 0, {}};
}

/// One element set to `value`: the first, the last or any.
inline ValueRecipe patched(Choices& c, const ValueContext& x, ValueRecipe recipe, Number value) {
  const uint64_t where = c.below(3);
  int64_t index = 0;
  if (where == 1 && x.numel > 1) index = -1;
  if (where == 2 && x.numel > 1) index = static_cast<int64_t>(c.below(static_cast<uint64_t>(x.numel)));
  recipe.patches.emplace_back(index, value);
  return recipe;
}

inline bool is_unsigned(Dtype dtype) { return dtype_integral_range(dtype).min == 0; }

}  // namespace aotifuzz
