#include "oracles/quick_compare.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "oracles/float_format.h"

namespace aotifuzz {
namespace {

/// A bound wider than this would hide what the referee can tell. 16-bit types have so few digits that even that is
/// much.
constexpr double kBudgetMax = 64;
constexpr double kBudgetMaxNarrow = 1;

template <class T>
void compare_floating(const T* expected, const T* actual, int64_t count, double relative, double tiny,
                      QuickResult& out) {
  for (int64_t i = 0; i < count; ++i) {
    const double e = static_cast<double>(expected[i]), a = static_cast<double>(actual[i]);
    if (e == a) continue;
    // Written so that NaN on either side is a suspect.
    const double error = std::abs(a - e), bound = relative * std::abs(e) + tiny;
    if (error <= bound && std::abs(e) <= std::numeric_limits<double>::max()) {
      if (error > out.share * bound) out.share = error / bound;
      continue;
    }
    if (std::isnan(e) && std::isnan(a)) continue;
    out.suspects.push_back(i);
  }
}

/// Typical magnitude of a tensor: the median, not the mean square, which one huge element (a mask's least value, an
/// overflow) would raise until every other element passes. Of some 2,000 elements evenly spread: more would cost more
/// than the comparison. An odd distance keeps it from meeting the same column in each row.
double typical(const HostValues& values) {
  constexpr int64_t kSample = 2048;
  const int64_t distance = values.size() <= kSample ? 1 : values.size() / kSample | 1;
  std::vector<double> magnitudes;
  magnitudes.reserve(static_cast<size_t>(values.size() / distance + 1));
  for (int64_t i = 0; i < values.size(); i += distance)
    if (const double x = std::abs(values.real(i)); std::isfinite(x)) magnitudes.push_back(x);
  if (magnitudes.empty()) return 0;
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::nth_element(magnitudes.begin(), middle, magnitudes.end());
  return *middle;
}

/// One lone number says something unless it is what an op that did nothing would give.
bool is_constant(const HostValues& values) {
  if (values.size() == 1) return values.is_floating() ? !(std::abs(values.real(0)) > 0) : values.integer(0) == 0;
  for (int64_t i = 1; i < values.size(); ++i)
    if (values.is_floating()
            ? !(values.real(i) == values.real(0) || (std::isnan(values.real(i)) && std::isnan(values.real(0))))
            : values.integer(i) != values.integer(0))
      return false;
  return true;
}

}  // namespace

QuickResult quick_compare(const HostValues& expected, const HostValues& actual, const OutputFacts& facts) {
  QuickResult out;
  const int64_t count = expected.size();
  out.constant = is_constant(expected);
  if (count == 0 || std::memcmp(expected.data(), actual.data(), static_cast<size_t>(expected.bytes())) == 0) return out;
  if (!expected.is_floating()) {
    for (int64_t i = 0; i < count; ++i)
      if (expected.integer(i) != actual.integer(i)) out.suspects.push_back(i);
    return out;
  }
  const FloatFormat format = float_format(expected.dtype());
  const double budget = std::min(facts.rounding_budget, format.precision >= 24 ? kBudgetMax : kBudgetMaxNarrow);
  const bool exact = facts.rounding_budget == 0;
  const double relative = exact ? 0 : format.unit() * (2 + 2 * budget);
  const double tiny = exact ? 0 : format.spacing(0);
  switch (expected.dtype()) {
    case Dtype::kF32:
      compare_floating(static_cast<const float*>(expected.data()), static_cast<const float*>(actual.data()), count,
                       relative, tiny, out);
      break;
    case Dtype::kF64:
      compare_floating(static_cast<const double*>(expected.data()), static_cast<const double*>(actual.data()), count,
                       relative, tiny, out);
      break;
    default:
      for (int64_t i = 0; i < count; ++i) {
        const double e = expected.real(i), a = actual.real(i);
        if (e == a || (std::isnan(e) && std::isnan(a))) continue;
        const double error = std::abs(a - e), bound = relative * std::abs(e) + tiny;
        if (std::isfinite(e) && error <= bound) {
          if (error > out.share * bound) out.share = error / bound;
          continue;
        }
        out.suspects.push_back(i);
      }
  }
  if (!out.suspects.empty() && !facts.elementwise_only && !exact) {
    const double absolute = relative * typical(expected);
    std::vector<int64_t> left;
    for (int64_t i : out.suspects) {
      const double e = expected.real(i), a = actual.real(i);
      const double error = std::abs(a - e), bound = relative * std::abs(e) + absolute;
      const bool near = std::isfinite(e) && std::isfinite(a) && error <= bound;
      if (near && error > out.share * bound) out.share = error / bound;
      (near ? out.only_absolute : left).push_back(i);
    }
    out.suspects = std::move(left);
  }
  return out;
}

}  // namespace aotifuzz
