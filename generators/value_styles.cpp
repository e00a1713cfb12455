#include "generators/value_styles.h"

namespace aotifuzz {

std::span<const ValueStyle> value_styles(Dtype dtype, ValueRole::Kind role) {
  if (dtype == Dtype::kBool || role == ValueRole::Kind::kMask) return mask_styles();
  if (!dtype_is_integral(dtype)) return float_styles(role);
  // What indexes, cuts, shifts or counts is an integer; a floating input in such a role is plain.
  const std::span<const ValueStyle> of_role = index_styles(role);
  return of_role.empty() ? integer_styles(role) : of_role;
}

}  // namespace aotifuzz
