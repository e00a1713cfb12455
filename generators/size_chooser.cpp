#include "generators/size_chooser.h"

#include <algorithm>
#include <array>

#include "core/check.h"

namespace aotifuzz {
namespace {

using Slot = ShapeModel::Slot;

constexpr std::array<int64_t, 19> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67};
constexpr int kTries = 24;

/// `count` allowed values above the least one that is not 0.
int64_t nth_value(const Slot& slot, int64_t count) {
  const int64_t first = slot.snap(std::max<int64_t>(slot.min, 1));
  int64_t wide = 0;
  if (__builtin_mul_overflow(count, slot.step, &wide) || __builtin_add_overflow(wide, first, &wide))
    return slot.snap(slot.max);
  return slot.snap(wide);
}

/// A plain number as a size of this slot: itself where steps are 1, that many steps elsewhere (x % 100 == 0).
int64_t as_size(const Slot& slot, int64_t number) {
  return slot.step == 1 ? slot.snap(number) : nth_value(slot, number - 1);
}

int64_t choose_one(Choices& choices, const Slot& slot, bool* landmark) {
  switch (choices.weighted(std::array<int, 5>{30, 34, slot.landmarks.empty() ? 0 : 14, 12, 8})) {
    case 0:
      return as_size(slot, choices.between(1, 9));
    case 1:
      return as_size(slot, choices.between(1, 70));
    case 2:
      *landmark = true;
      return choices.pick(slot.landmarks);
    case 3:
      return slot.snap(slot.min + choices.between(0, 2));
    default: {
      // Even in the exponent, up to 4096.
      const int64_t low = int64_t{1} << choices.below(12);
      return as_size(slot, low + choices.between(0, low));
    }
  }
}

/// Values for every slot are there: the free strides follow from the sizes.
void settle(Choices& choices, const ShapeModel& model, SlotValues& values) {
  if (model.has_free_strides()) model.settle_strides(values, choices.between(0, 2));
}

enum class Relation { kFree, kDistinctPrimes, kAllEqual };

void choose_slots(Choices& choices, const ShapeModel& model, Relation relation, SlotValues& values, bool* landmark) {
  const std::vector<Slot>& slots = model.slots();
  switch (relation) {
    case Relation::kFree:
      for (size_t s = 0; s < slots.size(); ++s) values[s] = choose_one(choices, slots[s], landmark);
      return;
    case Relation::kDistinctPrimes: {
      // A walk with a stride that is coprime to the count of primes meets each once.
      size_t at = choices.below(kPrimes.size());
      const size_t stride = 1 + choices.below(kPrimes.size() - 1);
      for (size_t s = 0; s < slots.size(); ++s, at += stride)
        values[s] = as_size(slots[s], kPrimes[at % kPrimes.size()]);
      return;
    }
    case Relation::kAllEqual: {
      const int64_t size = choose_one(choices, slots[choices.below(slots.size())], landmark);
      for (size_t s = 0; s < slots.size(); ++s) values[s] = slots[s].snap(size);
      return;
    }
  }
}

/// Halves the largest slots until the case fits; what is at its least value stays.
void shrink_to_budget(const ShapeModel& model, int64_t budget, SlotValues& values) {
  const std::vector<Slot>& slots = model.slots();
  for (int round = 0; round < 64 && model.elements(values) > budget; ++round) {
    size_t largest = 0;
    int64_t most = -1;
    for (size_t s = 0; s < slots.size(); ++s) {
      const int64_t excess = values[s] - nth_value(slots[s], 0);
      if (excess > most) most = excess, largest = s;
    }
    if (most <= 0) return;
    const int64_t halved = slots[largest].snap(values[largest] / 2);
    // Landmarks and even numbers are over-represented by halving; one less keeps the small sizes mixed.
    const int64_t next = halved < values[largest] ? halved : slots[largest].snap(values[largest] - slots[largest].step);
    values[largest] = std::max(next, nth_value(slots[largest], 0));
  }
}

constexpr int64_t kSmallCase = 1 << 13;

int64_t least_elements(const ShapeModel& model) {
  return model.pool().empty() ? 0 : model.elements(model.pool().front());
}

int64_t draw_budget(Choices& choices, const ShapeModel& model) {
  const int size = std::clamp(choices.size(), 0, 100);
  const int64_t drawn = int64_t{1} << (5 + choices.below(static_cast<uint64_t>(3 + size / 12)));
  // A case of images is large at any size, and its work grows with it: leave room for a few of them, no more.
  const int64_t least = least_elements(model);
  const uint64_t copies = least <= kSmallCase ? 8 : 3;
  const int64_t several = least > kElementsMax ? least : least * static_cast<int64_t>(1 + choices.below(copies));
  return std::max(drawn, several);
}

const SlotValues& from_pool(Choices& choices, const ShapeModel& model, int64_t budget) {
  const std::vector<SlotValues>& pool = model.pool();
  for (int tries = 0; tries < 4; ++tries) {
    const SlotValues& values = choices.pick(pool);
    if (model.elements(values) <= budget) return values;
  }
  return pool.front();
}

}  // namespace

SlotValues choose_sizes(Choices& choices, const ShapeModel& model) {
  AOTIFUZZ_CHECK(!model.pool().empty());
  if (model.slots().empty()) return {};
  const int64_t budget = draw_budget(choices, model);
  const size_t how =
      choices.weighted(std::array<int, 4>{70, 14, model.slots().size() > 1 ? 8 : 0, model.boundary().empty() ? 0 : 8});
  // The far corners of the contract cost a thousand small cases each: they come, but seldom.
  if (how == 3) return from_pool(choices, model, choices.below(8) == 7 ? kElementsMax : 4 * budget);
  SlotValues values(model.slots().size());
  for (int tries = 0; tries < kTries; ++tries) {
    bool landmark = false;
    choose_slots(choices, model, static_cast<Relation>(how), values, &landmark);
    shrink_to_budget(model, landmark ? std::min(budget * 16, std::max(budget, kElementsMax)) : budget, values);
    settle(choices, model, values);
    if (model.legal(values)) return values;
  }
  return from_pool(choices, model, budget);
}

SlotValues choose_tiny_sizes(Choices& choices, const ShapeModel& model) {
  AOTIFUZZ_CHECK(!model.pool().empty());
  const std::vector<Slot>& slots = model.slots();
  SlotValues values(slots.size());
  for (int tries = 0; tries < kTries; ++tries) {
    for (size_t s = 0; s < slots.size(); ++s) {
      const uint64_t how = choices.below(4);
      values[s] = how == 3 ? as_size(slots[s], choices.between(2, 9)) : slots[s].snap(how == 2 ? 0 : 1);
    }
    settle(choices, model, values);
    if (model.legal(values)) return values;
  }
  return from_pool(choices, model, kElementsMax);
}

SlotValues choose_plain_sizes(Choices& choices, const ShapeModel& model) {
  AOTIFUZZ_CHECK(!model.pool().empty());
  const std::vector<Slot>& slots = model.slots();
  SlotValues values(slots.size());
  for (int tries = 0; tries < kTries; ++tries) {
    for (size_t s = 0; s < slots.size(); ++s) values[s] = as_size(slots[s], choices.between(2, tries < 8 ? 9 : 40));
    shrink_to_budget(model, std::max(kSmallCase, 3 * std::min(least_elements(model), kElementsMax)), values);
    settle(choices, model, values);
    if (model.legal(values)) return values;
  }
  return from_pool(choices, model, kElementsMax);
}

}  // namespace aotifuzz
