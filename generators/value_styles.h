#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/choices.h"
#include "core/contract.h"
#include "core/value_recipe.h"

namespace aotifuzz {

/// What a style may draw on: the tensor that it is for.
struct ValueContext {
  Dtype dtype = Dtype::kF32;
  int64_t numel = 0;
  /// kIndex: size of the indexed dimension; kOffsets: total. nullopt: not known.
  std::optional<int64_t> bound;
};

/// One way of filling one input: a row of the tables in *_styles.cpp.
struct ValueStyle {
  std::string_view name;  ///< the same name in several tables means the same idea: "steps", "extremes"
  int weight = 1;
  /// Values that the reference may well refuse, or that are NaN or Inf: a tier of its own, rare.
  bool special = false;
  ValueRecipe (*make)(Choices& choices, const ValueContext& context);
};

/// Styles that suit a tensor of this dtype and role. The first one is plain and, with zero choices, the simplest.
std::span<const ValueStyle> value_styles(Dtype dtype, ValueRole::Kind role);

/// The tables behind it, a file each. index_styles is empty for roles that are none of index, offsets, shift and count.
std::span<const ValueStyle> float_styles(ValueRole::Kind role);
std::span<const ValueStyle> integer_styles(ValueRole::Kind role);
std::span<const ValueStyle> index_styles(ValueRole::Kind role);
std::span<const ValueStyle> mask_styles();

}  // namespace aotifuzz
