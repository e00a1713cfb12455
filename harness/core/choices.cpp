#include "core/choices.h"

#include "core/check.h"

namespace aotifuzz {

int64_t Choices::between(int64_t lo, int64_t hi) {
  AOTIFUZZ_CHECK(lo <= hi) << lo << " > " << hi;
  const uint64_t count = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) + 1;
  // 0 means 2^64 values: two halves, because below() cannot say so.
  uint64_t drawn;
  if (count == 0) {
    drawn = below(uint64_t{1} << 32) << 32;
    drawn |= below(uint64_t{1} << 32);
  } else {
    drawn = below(count);
  }
  return static_cast<int64_t>(static_cast<uint64_t>(lo) + drawn);
}

size_t Choices::weighted(std::span<const int> weights) {
  uint64_t total = 0;
  for (int weight : weights) total += weight > 0 ? static_cast<uint64_t>(weight) : 0;
  AOTIFUZZ_CHECK(total > 0) << weights.size() << " weights, none positive";
  uint64_t drawn = below(total);
  for (size_t i = 0; i < weights.size(); ++i) {
    const uint64_t weight = weights[i] > 0 ? static_cast<uint64_t>(weights[i]) : 0;
    if (drawn < weight) return i;
    drawn -= weight;
  }
  return weights.size() - 1;
}

uint64_t BytesChoices::below(uint64_t bound) {
  AOTIFUZZ_CHECK(bound >= 1);
  // As few bytes as the bound needs, so that a mutation of one byte changes one decision.
  size_t width = 0;
  for (uint64_t rest = bound - 1; rest != 0; rest >>= 8) ++width;
  if (width == 0) return 0;
  if (bytes_.size() - next_ < width) {
    next_ = bytes_.size();
    return 0;
  }
  uint64_t drawn = 0;
  for (size_t i = 0; i < width; ++i) drawn |= static_cast<uint64_t>(bytes_[next_ + i]) << (8 * i);
  next_ += width;
  return drawn % bound;
}

}  // namespace aotifuzz
