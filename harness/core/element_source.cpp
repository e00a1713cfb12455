#include "core/element_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/check.h"

namespace aotifuzz {
namespace {

using Wide = unsigned __int128;

/// floor(word * count / 2^64); count 0 stands for 2^64.
uint64_t scale(uint64_t word, uint64_t count) {
  return count == 0 ? word : static_cast<uint64_t>((static_cast<Wide>(word) * count) >> 64);
}

constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;
constexpr double kTwoToMinus48 = 1.0 / 281474976710656.0;
constexpr int64_t kTwoTo48 = int64_t{1} << 48;

double standard_normal(uint64_t key, uint64_t i) {
  constexpr uint64_t kLanes = 0x0000ffff0000ffffu;
  const uint64_t w0 = random_word(key, 3 * i), w1 = random_word(key, 3 * i + 1), w2 = random_word(key, 3 * i + 2);
  // Two lanes of 32 bits, each a sum of six numbers of 16 bits.
  const uint64_t lanes = (w0 & kLanes) + ((w0 >> 16) & kLanes) + (w1 & kLanes) + ((w1 >> 16) & kLanes) + (w2 & kLanes) +
                         ((w2 >> 16) & kLanes);
  const int64_t sum = static_cast<int64_t>((lanes & 0xffffffffu) + (lanes >> 32));
  const int64_t low = static_cast<int64_t>(((w0 + w1 + w2) * 0x9e3779b97f4a7c15u) >> 32);
  // Below 12 * 2^48, so the conversion is exact.
  return static_cast<double>(((sum << 32) | low) - 6 * kTwoTo48) * kTwoToMinus48;
}

double limit_quotient(double quotient) {
  constexpr double kLimit = 4611686018427387904.0;  // 2^62: the count of quotients then fits into 64 bits
  return quotient != quotient ? 0.0 : std::clamp(quotient, -kLimit, kLimit);
}

}  // namespace

ElementSource::ElementSource(const ValueRecipe& recipe, int64_t numel) : recipe_(recipe), numel_(numel) {
  const std::vector<Number>& numbers = recipe.numbers;
  const auto [least, most] = value_kind_arity(recipe.kind);
  AOTIFUZZ_CHECK(static_cast<int>(numbers.size()) >= least && (most < 0 || static_cast<int>(numbers.size()) <= most))
      << value_kind_name(recipe.kind) << " with " << numbers.size() << " numbers";
  const auto is_double = [](Number number) { return std::holds_alternative<double>(number); };
  if (value_kind_has_seed(recipe.kind)) key_ = random_key(recipe.seed);
  switch (recipe.kind) {
    case ValueKind::kConst:
    case ValueKind::kChoice:
    case ValueKind::kList:
    case ValueKind::kOneHot:
      table_ = true;
      break;
    case ValueKind::kRamp:
      real_ = is_double(numbers[0]) || is_double(numbers[1]);
      a_ = to_double(numbers[0]), b_ = to_double(numbers[1]);
      lo_ = to_int64(numbers[0]), hi_ = to_int64(numbers[1]);
      break;
    case ValueKind::kUniform:
      real_ = true;
      a_ = to_double(numbers[0]), top_ = to_double(numbers[1]), b_ = top_ - a_;
      break;
    case ValueKind::kNormal:
      real_ = true;
      a_ = to_double(numbers[0]), b_ = to_double(numbers[1]);
      break;
    case ValueKind::kInts:
      lo_ = to_int64(numbers[0]), hi_ = std::max(lo_, to_int64(numbers[1]));
      count_ = static_cast<uint64_t>(hi_) - static_cast<uint64_t>(lo_) + 1;
      break;
    case ValueKind::kSteps: {
      real_ = is_double(numbers[0]) || is_double(numbers[1]) || is_double(numbers[2]);
      a_ = to_double(numbers[2]);
      hi_ = to_int64(numbers[2]);
      const double first = limit_quotient(std::ceil(to_double(numbers[0]) / a_));
      const double last = limit_quotient(std::floor(to_double(numbers[1]) / a_));
      lo_ = static_cast<int64_t>(first);
      count_ = last < first ? 1 : static_cast<uint64_t>(static_cast<int64_t>(last)) - static_cast<uint64_t>(lo_) + 1;
      break;
    }
    case ValueKind::kSorted:
      lo_ = to_int64(numbers[0]), hi_ = std::max(lo_, to_int64(numbers[1]));
      group_ = int64_t{1} << (random_word(key_, ~uint64_t{0} - 1) & 3);
      groups_ = std::max<int64_t>(1, (std::max<int64_t>(numel - 2, 1) + group_ - 1) / group_);
      break;
    case ValueKind::kFile:
      AOTIFUZZ_CHECK(false) << "its elements are made by nobody";
      break;
    case ValueKind::kPermutation: {
      const int64_t n = std::max<int64_t>(numel, 1);
      lo_ = static_cast<int64_t>(random_word(key_, 0) % static_cast<uint64_t>(n));
      while (std::gcd(lo_, n) != 1) lo_ = (lo_ + 1) % n;
      hi_ = static_cast<int64_t>(random_word(key_, 1) % static_cast<uint64_t>(n));
      break;
    }
  }
}

int64_t ElementSource::table_index(int64_t i) const {
  const int64_t count = static_cast<int64_t>(recipe_.numbers.size());
  switch (recipe_.kind) {
    case ValueKind::kChoice:
      return static_cast<int64_t>(scale(random_word(key_, static_cast<uint64_t>(i)), static_cast<uint64_t>(count)));
    case ValueKind::kList:
      return i % count;
    case ValueKind::kOneHot:
      return i == wrap_index(to_int64(recipe_.numbers[0]), std::max<int64_t>(numel_, 1)) ? 1 : 2;
    default:
      return 0;
  }
}

int64_t ElementSource::sorted_at(int64_t i) const {
  if (i <= 0 || numel_ <= 1) return lo_;
  if (i >= numel_ - 1) return hi_;
  const uint64_t group = static_cast<uint64_t>((i - 1) / group_), groups = static_cast<uint64_t>(groups_);
  const Wide values = static_cast<Wide>(static_cast<uint64_t>(hi_) - static_cast<uint64_t>(lo_)) + 1;
  const Wide begin = values * group / groups, share = values * (group + 1) / groups - begin;
  const uint64_t jitter = share == 0 ? 0 : scale(random_word(key_, group), static_cast<uint64_t>(share));
  return static_cast<int64_t>(static_cast<uint64_t>(lo_) + static_cast<uint64_t>(begin) + jitter);
}

void ElementSource::integers(int64_t begin, int64_t count, int64_t* out) const {
  const uint64_t first = static_cast<uint64_t>(begin);
  const uint64_t n = static_cast<uint64_t>(count);
  const uint64_t lo = static_cast<uint64_t>(lo_), hi = static_cast<uint64_t>(hi_);
  switch (recipe_.kind) {
    case ValueKind::kRamp:
      for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(lo + hi * (first + i));
      return;
    case ValueKind::kInts:
      if (count_ == 0) {
        for (uint64_t i = 0; i < n; ++i) out[i] = static_cast<int64_t>(lo + random_word(key_, first + i));
      } else {
        for (uint64_t i = 0; i < n; ++i)
          out[i] = static_cast<int64_t>(lo + scale(random_word(key_, first + i), count_));
      }
      return;
    case ValueKind::kSteps:
      for (uint64_t i = 0; i < n; ++i)
        out[i] = static_cast<int64_t>(hi * (lo + scale(random_word(key_, first + i), count_)));
      return;
    case ValueKind::kSorted:
      for (uint64_t i = 0; i < n; ++i) out[i] = sorted_at(static_cast<int64_t>(first + i));
      return;
    case ValueKind::kPermutation: {
      const uint64_t modulus = static_cast<uint64_t>(std::max<int64_t>(numel_, 1));
      uint64_t value = static_cast<uint64_t>((static_cast<Wide>(lo) * first + hi) % modulus);
      for (uint64_t i = 0; i < n; ++i) {
        out[i] = static_cast<int64_t>(value);
        value = value >= modulus - lo ? value - (modulus - lo) : value + lo;
      }
      return;
    }
    default:
      AOTIFUZZ_CHECK(false) << value_kind_name(recipe_.kind);
  }
}

void ElementSource::reals(int64_t begin, int64_t count, double* out) const {
  const uint64_t first = static_cast<uint64_t>(begin);
  const uint64_t n = static_cast<uint64_t>(count);
  const double a = a_, b = b_;
  switch (recipe_.kind) {
    case ValueKind::kRamp:
      for (uint64_t i = 0; i < n; ++i) out[i] = a + b * static_cast<double>(static_cast<int64_t>(first + i));
      return;
    case ValueKind::kUniform: {
      const double top = top_;
      for (uint64_t i = 0; i < n; ++i) {
        const double share =
            static_cast<double>(static_cast<int64_t>(random_word(key_, first + i) >> 11)) * kTwoToMinus53;
        const double value = a + b * share;
        out[i] = value >= top ? a : value;
      }
      return;
    }
    case ValueKind::kNormal:
      for (uint64_t i = 0; i < n; ++i) out[i] = a + b * standard_normal(key_, first + i);
      return;
    case ValueKind::kSteps: {
      const uint64_t lo = static_cast<uint64_t>(lo_);
      for (uint64_t i = 0; i < n; ++i)
        out[i] = a * static_cast<double>(static_cast<int64_t>(lo + scale(random_word(key_, first + i), count_)));
      return;
    }
    default:
      AOTIFUZZ_CHECK(false) << value_kind_name(recipe_.kind);
  }
}

Number ElementSource::at(int64_t i) const {
  if (table_) return recipe_.numbers[static_cast<size_t>(table_index(i))];
  if (real_) {
    double value = 0;
    reals(i, 1, &value);
    return value;
  }
  int64_t value = 0;
  integers(i, 1, &value);
  return value;
}

}  // namespace aotifuzz
