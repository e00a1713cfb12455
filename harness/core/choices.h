#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace aotifuzz {

/// The one stream of randomness. Generators take every decision from it, so the same choices give the same case, byte for
/// byte, on every machine. Not thread-safe.
class Choices {
 public:
  virtual ~Choices() = default;
  /// Uniform in [0, bound); bound >= 1. When a finite stream has run out: 0, which every generator treats as "simplest".
  virtual uint64_t below(uint64_t bound) = 0;
  /// How large the drawn things should be, 0..100 as in RapidCheck; a campaign lets it sweep.
  virtual int size() const { return 50; }

  int64_t between(int64_t lo, int64_t hi);  ///< both ends included; lo <= hi
  bool chance(uint64_t numerator, uint64_t denominator) { return below(denominator) < numerator; }
  template <class T>
  const T& pick(const std::vector<T>& items) { return items[below(items.size())]; }
  /// Index into `weights` with probability proportional to the weight; at least one must be positive.
  size_t weighted(std::span<const int> weights);
};

/// Choices read from a finite buffer (libFuzzer's bytes, a saved stream).
class BytesChoices final : public Choices {
 public:
  explicit BytesChoices(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t below(uint64_t bound) override;

 private:
  std::span<const uint8_t> bytes_;
  size_t next_ = 0;
};

}  // namespace aotifuzz
