#pragma once

#include "core/choices.h"
#include "generators/shape_model.h"

namespace aotifuzz {

/// Legal slot values: mostly small (most faults show at sizes below 70) with a long tail, now and then 0 and 1,
/// landmarks, all sizes equal, all different primes. The elements of a case stay within a budget that grows with
/// choices.size(). Rejection against the conditions is bounded; when it fails, the model's pool is drawn from. Zero
/// choices: the simplest values of the pool. The model's pool must not be empty.
SlotValues choose_sizes(Choices& choices, const ShapeModel& model);

/// As choose_sizes, but every slot is 0, 1 or its least value with a large share: what input checks refuse.
SlotValues choose_tiny_sizes(Choices& choices, const ShapeModel& model);

/// As choose_sizes, small, and at least 2 where the contract allows it: sizes at which layouts mean something.
SlotValues choose_plain_sizes(Choices& choices, const ShapeModel& model);

/// Largest budget of elements that a draw is given, unless the smallest legal sizes are larger already.
inline constexpr int64_t kElementsMax = int64_t{1} << 18;

}  // namespace aotifuzz
