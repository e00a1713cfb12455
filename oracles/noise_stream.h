#pragma once

#include <cstdint>

namespace aotifuzz {

/// Counter-based random numbers (SplitMix64 finaliser): the same seed gives the same stream on every machine.
class NoiseStream {
 public:
  explicit NoiseStream(uint64_t seed) : state_(mix(seed ^ 0x5bf03635f0a31e8bULL)) {}
  uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< uniform in [0, 1)
  double signed_unit() { return 2 * unit() - 1; }                        ///< uniform in [-1, 1)
  uint64_t below(uint64_t bound) { return next() % bound; }              ///< bound >= 1; the bias does not matter here

  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace aotifuzz
