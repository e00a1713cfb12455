#include <algorithm>
#include <array>

#include "generators/style_recipes.h"
#include "generators/value_styles.h"

namespace aotifuzz {
namespace {

ValueRecipe index_zero(Choices&, const ValueContext&) { return constant(int64_t{0}); }

/// Rows that may be indexed; a dimension that nobody knows is taken to be small.
int64_t rows(const ValueContext& x) { return std::max<int64_t>(x.bound.value_or(2), 0); }
int64_t last_row(const ValueContext& x) { return std::max<int64_t>(rows(x) - 1, 0); }

ValueRecipe index_in_range(Choices& c, const ValueContext& x) { return ints(c, 0, last_row(x)); }
ValueRecipe index_last(Choices&, const ValueContext& x) { return constant(last_row(x)); }
ValueRecipe index_sorted(Choices& c, const ValueContext& x) {
  return {ValueKind::kSorted, {int64_t{0}, last_row(x)}, draw_seed(c), {}};
}
ValueRecipe index_permutation(Choices& c, const ValueContext& x) {
  if (x.numel > rows(x)) return index_in_range(c, x);
  return {ValueKind::kPermutation, {}, draw_seed(c), {}};
}
ValueRecipe index_past_end(Choices& c, const ValueContext& x) { return patched(c, x, index_in_range(c, x), rows(x)); }
ValueRecipe index_minus_one(Choices& c, const ValueContext& x) {
  return patched(c, x, index_in_range(c, x), int64_t{-1});
}
ValueRecipe index_most_negative(Choices& c, const ValueContext& x) {
  return patched(c, x, index_in_range(c, x), -std::max<int64_t>(rows(x), 1));
}
ValueRecipe index_below(Choices& c, const ValueContext& x) { return patched(c, x, index_in_range(c, x), -rows(x) - 1); }
ValueRecipe index_far(Choices& c, const ValueContext& x) {
  const int64_t top = dtype_integral_range(x.dtype).max;
  static const std::array<int64_t, 4> distances = {1000, 10000000, int64_t{1} << 40, -10000000};
  const int64_t value = std::min(distances[c.below(4)], top);
  return patched(c, x, index_in_range(c, x), value);
}

constexpr std::array<ValueStyle, 10> kIndex = {{
    {"in-range", 10, false, index_in_range},
    {"zero", 2, false, index_zero},
    {"last", 3, false, index_last},
    {"sorted", 2, false, index_sorted},
    {"permutation", 2, false, index_permutation},
    {"minus-one", 5, true, index_minus_one},
    {"past-end", 6, true, index_past_end},
    {"most-negative", 2, true, index_most_negative},
    {"below", 3, true, index_below},
    {"far", 2, true, index_far},
}};

int64_t total(const ValueContext& x) {
  return std::max<int64_t>(x.bound.value_or(std::max<int64_t>(x.numel - 1, 0)), 0);
}

ValueRecipe offsets_sorted(Choices& c, const ValueContext& x) {
  return {ValueKind::kSorted, {int64_t{0}, total(x)}, draw_seed(c), {}};
}
ValueRecipe offsets_last_segment(Choices&, const ValueContext& x) {
  return {ValueKind::kOneHot, {int64_t{-1}, total(x), int64_t{0}}, 0, {}};
}
ValueRecipe offsets_first_segment(Choices&, const ValueContext& x) {
  return {ValueKind::kOneHot, {int64_t{0}, int64_t{0}, total(x)}, 0, {}};
}
ValueRecipe offsets_patch(ValueRecipe recipe, int64_t index, int64_t value) {
  recipe.patches.emplace_back(index, value);
  return recipe;
}
ValueRecipe offsets_too_long(Choices& c, const ValueContext& x) {
  return offsets_patch(offsets_sorted(c, x), -1, total(x) + 1 + static_cast<int64_t>(c.below(8)));
}
ValueRecipe offsets_too_short(Choices& c, const ValueContext& x) {
  return offsets_patch(offsets_sorted(c, x), -1, std::max<int64_t>(0, total(x) - 1 - static_cast<int64_t>(c.below(3))));
}
ValueRecipe offsets_unsorted(Choices& c, const ValueContext& x) {
  return offsets_patch(offsets_sorted(c, x), x.numel / 2, total(x) + 1);
}
ValueRecipe offsets_first_not_zero(Choices& c, const ValueContext& x) {
  return offsets_patch(offsets_sorted(c, x), 0, 1);
}
ValueRecipe offsets_negative(Choices& c, const ValueContext& x) {
  return offsets_patch(offsets_sorted(c, x), x.numel > 2 ? 1 : 0, -1);
}

constexpr std::array<ValueStyle, 8> kOffsets = {{
    {"sorted", 12, false, offsets_sorted},
    {"last-segment", 3, false, offsets_last_segment},
    {"first-segment", 3, false, offsets_first_segment},
    {"too-long", 4, true, offsets_too_long},
    {"too-short", 3, true, offsets_too_short},
    {"unsorted", 3, true, offsets_unsorted},
    {"first-not-zero", 2, true, offsets_first_not_zero},
    {"negative", 3, true, offsets_negative},
}};

int64_t bits(const ValueContext& x) { return dtype_bytes(x.dtype) * 8; }

ValueRecipe shift_in_range(Choices& c, const ValueContext& x) { return ints(c, 0, bits(x) - 1); }
ValueRecipe shift_one(Choices&, const ValueContext&) { return constant(int64_t{1}); }
ValueRecipe shift_outside(Choices& c, const ValueContext& x) {
  const std::array<int64_t, 5> values = {bits(x), bits(x) + 1, -1, 64, 65};
  return patched(c, x, shift_in_range(c, x), values[c.below(5)]);
}

constexpr std::array<ValueStyle, 3> kShift = {{
    {"in-range", 6, false, shift_in_range},
    {"constant", 2, false, shift_one},
    {"outside", 3, true, shift_outside},
}};

ValueRecipe count_small(Choices& c, const ValueContext&) { return ints(c, 0, 3); }
ValueRecipe count_negative(Choices& c, const ValueContext& x) { return patched(c, x, ints(c, 0, 3), int64_t{-1}); }

ValueRecipe count_one_hot(Choices& c, const ValueContext& x) { return one_hot(c, x, int64_t{1}, int64_t{0}); }

constexpr std::array<ValueStyle, 5> kCount = {{
    {"small-ints", 8, false, count_small},
    {"constant", 2, false, shift_one},
    {"zero", 3, false, index_zero},
    {"one-hot", 2, false, count_one_hot},
    {"negative", 3, true, count_negative},
}};

}  // namespace

std::span<const ValueStyle> index_styles(ValueRole::Kind role) {
  switch (role) {
    case ValueRole::Kind::kIndex:
      return kIndex;
    case ValueRole::Kind::kOffsets:
      return kOffsets;
    case ValueRole::Kind::kShift:
      return kShift;
    case ValueRole::Kind::kCount:
      return kCount;
    default:
      return {};
  }
}

}  // namespace aotifuzz
