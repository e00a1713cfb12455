#pragma once

#include <cstdint>

#include "core/value_recipe.h"

namespace aotifuzz {

/// Word `index` of the random stream `key`: SplitMix64's output function on a counter, so any element can be made
/// alone.
inline uint64_t random_word(uint64_t key, uint64_t index) {
  uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// Neighbouring seeds give unrelated streams.
inline uint64_t random_key(uint64_t seed) { return random_word(seed, 0); }

/// The elements of one recipe, patches aside, for a tensor of `numel` elements. Immutable.
///
/// uniform  lo + (hi - lo) * (word i >> 11) * 2^-53; what rounds up to hi becomes lo
/// normal   twelve uniforms of 16 bits from words 3i, 3i+1, 3i+2; the sum gets 32 more bits from the product
///          (w0 + w1 + w2) * 0x9e3779b97f4a7c15, so that float32 elements fill their mantissa
/// ints     lo + floor(word i * (hi - lo + 1) / 2^64)
/// steps    step * (k0 + floor(word i * (k1 - k0 + 1) / 2^64)), k0 = ceil(lo / step), k1 = floor(hi / step)
/// choice   numbers[floor(word i * count / 2^64)]
/// sorted   interior elements in groups of 1, 2, 4 or 8 (by the seed: repeated values are empty segments of offsets),
///          each group drawn from its own share of lo..hi
/// permutation  (a * i + b) mod numel, a coprime to numel
class ElementSource {
 public:
  ElementSource(const ValueRecipe& recipe, int64_t numel);

  /// True when the elements are doubles; false: integers. Meaningless for kinds with a table (has_table).
  bool is_real() const { return real_; }
  /// const, choice, list, onehot: every element is one of the recipe's numbers, at this index of ValueRecipe::numbers.
  bool has_table() const { return table_; }
  int64_t table_index(int64_t i) const;

  /// Elements begin .. begin + count - 1.
  void integers(int64_t begin, int64_t count, int64_t* out) const;
  void reals(int64_t begin, int64_t count, double* out) const;
  Number at(int64_t i) const;

 private:
  int64_t sorted_at(int64_t i) const;

  const ValueRecipe& recipe_;
  int64_t numel_;
  uint64_t key_ = 0;
  bool real_ = false;
  bool table_ = false;
  double a_ = 0, b_ = 0;     ///< uniform: lo, hi - lo; normal: mean, std; ramp: start, step; steps: step in a_
  double top_ = 0;           ///< uniform: hi
  int64_t lo_ = 0, hi_ = 0;  ///< ints, sorted; ramp: start, step; permutation: a, b; steps: k0, integral step
  uint64_t count_ = 1;       ///< ints, steps: how many values there are; 0 = 2^64
  int64_t group_ = 1, groups_ = 1;
};

/// Index modulo numel as Python has it: -1 is the last element. numel >= 1.
inline int64_t wrap_index(int64_t index, int64_t numel) {
  const int64_t rest = index % numel;
  return rest < 0 ? rest + numel : rest;
}

}  // namespace aotifuzz
