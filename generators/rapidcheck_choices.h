#pragma once

#include <rapidcheck/Random.h>

#include <cstdint>

#include "core/choices.h"

namespace aotifuzz {

/// Choices from RapidCheck's splittable random generator. Case k of a campaign uses the stream (seed, k), so that any
/// case can be made again alone, in any order and on any machine.
class RapidCheckChoices final : public Choices {
 public:
  /// The size sweeps with k as RapidCheck's does: small cases first, then all sizes over and over.
  RapidCheckChoices(uint64_t seed, uint64_t k);
  /// Continues a stream of RapidCheck's own.
  static RapidCheckChoices from(const rc::Random& random, int size) {
    RapidCheckChoices choices(0, 0);
    choices.random_ = random, choices.size_ = size;
    return choices;
  }

  uint64_t below(uint64_t bound) override;
  int size() const override { return size_; }

 private:
  rc::Random random_;
  int size_;
  uint64_t word_ = 0;  ///< bits of the last number that are not used yet
  int bits_left_ = 0;
};

}  // namespace aotifuzz
