#include "generators/rapidcheck_choices.h"

#include "core/check.h"

namespace aotifuzz {
namespace {

// A number of rc::Random costs a cipher block of four: decisions among few things take 16 bits of it. With at most 256
// things, no probability is off by more than 1/256 of itself.
constexpr int kSmallBits = 16;
constexpr uint64_t kSmallBound = 256;

int size_of_case(uint64_t k) { return k < 100 ? 1 + static_cast<int>(k) : 10 + static_cast<int>(k * 37 % 91); }

}  // namespace

RapidCheckChoices::RapidCheckChoices(uint64_t seed, uint64_t k)
    : random_(rc::Random::Key{seed, k, 0x616f7469u, 0x66757a7au}), size_(size_of_case(k)) {}

uint64_t RapidCheckChoices::below(uint64_t bound) {
  AOTIFUZZ_CHECK(bound >= 1);
  if (bound == 1) return 0;
  if (bound <= kSmallBound) {
    if (bits_left_ < kSmallBits) word_ = random_.next(), bits_left_ = 64;
    const uint64_t drawn = word_ & ((uint64_t{1} << kSmallBits) - 1);
    word_ >>= kSmallBits, bits_left_ -= kSmallBits;
    return (drawn * bound) >> kSmallBits;
  }
  return static_cast<uint64_t>((static_cast<unsigned __int128>(random_.next()) * bound) >> 64);
}

}  // namespace aotifuzz
