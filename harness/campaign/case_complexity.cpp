#include "campaign/case_complexity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace aotifuzz {
namespace {

constexpr int64_t kCap = int64_t{1} << 50;

int64_t magnitude_bits(int64_t value) {
  int64_t bits = 0;
  for (uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value); rest; rest >>= 1)
    ++bits;
  return bits;
}

/// 0 and 1 are easiest, then small integers, negatives one step behind, fractions, special values.
int64_t number_cost(Number number) {
  if (const auto* integer = std::get_if<int64_t>(&number)) {
    if (*integer == 0) return 0;
    if (*integer == 1) return 1;
    return 2 * magnitude_bits(*integer) + (*integer < 0 ? 1 : 0);
  }
  const double value = std::get<double>(number);
  if (std::isnan(value)) return 500;
  if (std::isinf(value)) return value > 0 ? 400 : 401;
  if (value == std::trunc(value) && std::fabs(value) < 9e15) {
    // -0.0 is a special value, not a zero.
    if (value == 0 && std::signbit(value)) return 200;
    return number_cost(static_cast<int64_t>(value));
  }
  // Fractions with few binary digits (0.5) come before others (0.3); the digits left of the point count too.
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent);
  int64_t digits = 0;
  for (double rest = mantissa; rest != 0 && digits < 60; ++digits)
    rest = std::ldexp(rest, 1) - std::floor(std::ldexp(rest, 1));
  return 130 + digits + std::abs(exponent) + (value < 0 ? 1 : 0);
}

int64_t kind_rank(ValueKind kind) {
  switch (kind) {
    case ValueKind::kConst:
      return 0;
    case ValueKind::kRamp:
      return 1;
    case ValueKind::kOneHot:
      return 2;
    case ValueKind::kList:
      return 3;
    case ValueKind::kInts:
      return 4;
    case ValueKind::kSorted:
    case ValueKind::kPermutation:
      return 5;
    case ValueKind::kChoice:
      return 6;
    case ValueKind::kUniform:
    case ValueKind::kNormal:
      return 7;
    case ValueKind::kSteps:
      return 8;
    case ValueKind::kFile:
      return 40;  // anything that text says is easier to read than a file beside it
  }
  return 9;
}

int64_t values_cost(const ValueRecipe& values) {
  int64_t cost = kind_rank(values.kind) * 100'000;
  for (const Number& number : values.numbers) cost += 1 + number_cost(number);
  cost += std::min<int64_t>(magnitude_bits(static_cast<int64_t>(values.seed >> 1)), 64);
  for (const auto& [index, value] : values.patches) cost += 50'000 + number_cost(value) + magnitude_bits(index);
  return cost;
}

}  // namespace

std::vector<int64_t> case_complexity(const Case& c) {
  std::vector<CaseInput> inputs = c.inputs;
  int64_t calls = 0;
  for (const CaseCall& call : c.then) {
    inputs.insert(inputs.end(), call.inputs.begin(), call.inputs.end());
    calls += 1000 + call.times;
  }
  int64_t sizes = 0, layout = 0, values = 0;
  for (const CaseInput& input : inputs) {
    if (input.kind != CaseInput::Kind::kTensor) {
      values += number_cost(input.scalar);
      continue;
    }
    for (const int64_t size : input.sizes) sizes = std::min(kCap, sizes + std::min(size, kCap / 64));
    sizes = std::min(kCap, sizes + std::min(input.numel(), kCap / 64));
    if (input.zero_tensor) layout += 1'000'000;
    if (!input.storage_of.empty()) layout += 500'000;
    if (input.strides) {
      layout += 10'000;
      // Smaller strides are simpler among equals: a gap of 1 before a gap of 7.
      for (const int64_t stride : *input.strides)
        layout += magnitude_bits(stride) * 16 + std::min<int64_t>(std::abs(stride), 15);
    }
    if (input.misalign_bytes) layout += 5'000 + std::min<int64_t>(input.misalign_bytes, 1'000);
    if (input.offset) layout += 1'000 + magnitude_bits(input.offset) * 8 + std::min<int64_t>(std::abs(input.offset), 7);
    if (input.storage_of.empty()) values += values_cost(input.values);
  }
  const int64_t options = (c.input_checks ? 100 : 0) + std::abs(c.runs - 1) * 2 + std::abs(c.threads - 1) * 10 +
                          (c.callers - 1) * 20 + static_cast<int64_t>(c.constants) * 50;
  return {calls, sizes, layout, values, options};
}

}  // namespace aotifuzz
