#include "oracles/output_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oracles/float_format.h"
#include "oracles/host_values.h"
#include "oracles/position_judge.h"
#include "oracles/quick_compare.h"

namespace aotifuzz {
namespace {

using Kind = TensorAnswer::Kind;

/// Eager this many times past its own permitted error: the referee is no model of this program at that element.
constexpr double kTrustRatio = 16;
/// When more than this share of the elements is like that, the referee says nothing about the tensor at all.
constexpr double kMistrustedShareMax = 0.05;
/// Errors this far past what is permitted anywhere in the tensor need no further samples. Not past what is permitted at
/// the element itself: of many elements the first few samples leave some all but unmoved by chance.
constexpr double kGrossRatio = 64;
/// Factor on the largest of a few samples: the legal maximum lies beyond what 8 or 32 draws show.
constexpr double kSpreadFactor = 4;
/// Last rounding to the output's dtype on each side, once to nearest and once perhaps from a float32 value.
constexpr double kUlps = 2;

/// Of nearness: what passes without the referee.
constexpr double kQuickShare = 0.5;

/// Library functions lose subnormal numbers inside; below the least normal float32 nothing is promised.
constexpr double kSubnormalSlack = 0x1p-126;
/// (e^x + e^-x) / 2 and the like overflow inside when the result is still half of what the dtype holds.
constexpr double kOverflowShare = 0.5;

/// One tensor in every run that matters.
struct Runs {
  HostValues expected, actual, centre;
  std::vector<HostValues> rounded, undefined;
  FloatFormat format;
  bool exact = false;  ///< no rounding op on the way
};

struct ElementState {
  double centre = 0;
  double permitted = 0;
  double error = 0;        ///< of the package
  double ratio = 0;        ///< error / permitted; 0: fine
  double eager_ratio = 0;  ///< the same for the reference's own value
  bool varies = false;     ///< samples differ from the centre
};

double ratio_of(double error, double permitted) {
  if (!(error > permitted)) return permitted > 0 && error > 0 ? error / permitted : 0;
  return permitted > 0 ? error / permitted : std::numeric_limits<double>::infinity();
}

bool equal_or_nan(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Error ratio of `value` where it or the centre is not a number like others: 0 when some run has the same.
double special_ratio(double value, double expected, const Runs& runs, int64_t i) {
  if (equal_or_nan(value, expected) || equal_or_nan(value, runs.centre.real(i))) return 0;
  for (const HostValues& sample : runs.rounded)
    if (equal_or_nan(value, sample.real(i))) return 0;
  const double centre = runs.centre.real(i);
  // What the dtype cannot hold at all overflows somewhere inside, to an infinity or on to inf - inf.
  if (!std::isfinite(value) && std::isfinite(centre) && std::abs(centre) > runs.format.max) return 0;
  const bool overflows = std::isinf(value) && std::signbit(value) == std::signbit(centre) &&
                         std::abs(centre) >= kOverflowShare * runs.format.max;
  return overflows && !runs.exact ? 0 : std::numeric_limits<double>::infinity();
}

ElementState judge_number(const Runs& runs, int64_t i) {
  ElementState state;
  const double expected = runs.expected.real(i), actual = runs.actual.real(i);
  state.centre = runs.centre.real(i);
  double spread = 0;
  for (const HostValues& sample : runs.rounded) {
    const double value = sample.real(i);
    if (!equal_or_nan(value, state.centre)) state.varies = true;
    if (std::isfinite(value) && !std::isfinite(state.centre)) state.centre = value;
    if (std::isfinite(value) && std::isfinite(state.centre)) spread = std::max(spread, std::abs(value - state.centre));
  }
  const double largest = std::max(std::abs(state.centre), std::isfinite(expected) ? std::abs(expected) : 0.0);
  const double floor = runs.exact && !state.varies
                           ? 0
                           : kUlps * runs.format.spacing(std::isfinite(largest) ? largest : 0) + kSubnormalSlack;
  state.permitted = kSpreadFactor * spread + floor;
  state.error = std::abs(actual - state.centre);
  const auto ratio = [&](double value) {
    if (!std::isfinite(value) || !std::isfinite(state.centre)) return special_ratio(value, expected, runs, i);
    return ratio_of(std::abs(value - state.centre), state.permitted);
  };
  state.ratio = ratio(actual);
  state.eager_ratio = ratio(expected);
  if (std::isfinite(actual) && std::isfinite(expected) && state.error <= std::abs(expected - state.centre))
    state.ratio = 0;
  // Against itself eager's special values always fit; what counts is whether the referee can explain them.
  if (!std::isfinite(expected)) {
    double explained = equal_or_nan(expected, runs.centre.real(i)) ? 0 : std::numeric_limits<double>::infinity();
    for (const HostValues& sample : runs.rounded)
      if (equal_or_nan(expected, sample.real(i))) explained = 0;
    state.eager_ratio = explained;
  }
  return state;
}

ElementState judge_discrete(const Runs& runs, int64_t i) {
  ElementState state;
  const int64_t expected = runs.expected.integer(i), actual = runs.actual.integer(i), centre = runs.centre.integer(i);
  int64_t low = std::min(expected, centre), high = std::max(expected, centre);
  bool seen = actual == expected || actual == centre;
  bool explained = expected == centre;
  for (const HostValues& sample : runs.rounded) {
    const int64_t value = sample.integer(i);
    state.varies |= value != centre;
    seen |= value == actual;
    explained |= value == expected;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  state.varies |= low != high;
  // A few samples show part of the range only: as much again on either side. In double: bounds may overflow int64.
  const double span = static_cast<double>(high) - static_cast<double>(low);
  const bool between = static_cast<double>(actual) >= static_cast<double>(low) - span &&
                       static_cast<double>(actual) <= static_cast<double>(high) + span;
  state.centre = static_cast<double>(centre);
  state.permitted = span;
  state.error = std::abs(static_cast<double>(actual) - static_cast<double>(centre));
  const double infinite = std::numeric_limits<double>::infinity();
  state.ratio = seen || (state.varies && between) ? 0 : infinite;
  state.eager_ratio = explained || state.varies ? 0 : infinite;
  return state;
}

bool is_undefined(const Runs& runs, int64_t i) {
  for (const HostValues& sample : runs.undefined)
    if (!HostValues::same(sample, runs.centre, i)) return true;
  return false;
}

bool is_special(const HostValues& values, int64_t i) {
  if (values.is_floating()) return !std::isfinite(values.real(i));
  return values.integer(i) == dtype_integral_range(values.dtype()).min && values.integer(i) != 0;
}

/// Fills what the referee says; false when a run lacks the tensor or has it in another shape.
bool load_runs(const TensorQuestion& question, const RefereeRuns& referee, Runs& runs) {
  const auto load = [&](const RunRecord& record, HostValues& out) {
    out = HostValues(question.pick(record));
    return out.defined() && out.size() == runs.expected.size() && out.is_floating() == runs.expected.is_floating();
  };
  if (!load(*referee.centre, runs.centre)) return false;
  for (const RunRecord* record : referee.rounded)
    if (HostValues values; load(*record, values)) runs.rounded.push_back(std::move(values));
  for (const RunRecord* record : referee.undefined)
    if (HostValues values; load(*record, values)) runs.undefined.push_back(std::move(values));
  return true;
}

void describe(const TensorQuestion& question, const Runs& runs, int64_t i, const ElementState& state,
              TensorAnswer& answer) {
  std::vector<int64_t> sizes = question.expected.sizes().vec();
  if (question.expected.is_complex()) sizes.push_back(2);
  answer.index = index_text(i, sizes);
  answer.expected = runs.expected.text(i);
  answer.actual = runs.actual.text(i);
  answer.centre = runs.centre.text(i);
  answer.permitted = number_text(state.permitted);
  answer.error = number_text(state.error);
}

}  // namespace

TensorAnswer judge_tensor(const TensorQuestion& question, const RefereeRuns& referee) {
  TensorAnswer answer;
  Runs runs;
  runs.expected = HostValues(question.expected);
  runs.actual = HostValues(question.actual);
  answer.total = runs.expected.size();
  if (!question.facts->arg_op.empty() && !runs.expected.is_floating()) return judge_positions(question, referee);

  QuickResult quick = quick_compare(runs.expected, runs.actual, *question.facts);
  answer.constant = quick.constant;
  answer.nearness = kQuickShare * quick.share;
  std::vector<int64_t> suspects = std::move(quick.suspects);
  if (question.thorough) {
    suspects.insert(suspects.end(), quick.only_absolute.begin(), quick.only_absolute.end());
    std::sort(suspects.begin(), suspects.end());
  }
  if (suspects.empty()) return answer;
  if (referee.stage == 0) {
    answer.kind = Kind::kNeedsRuns;
    return answer;
  }
  if (!referee.available() || !load_runs(question, referee, runs)) {
    answer.kind = Kind::kUnjudged;
    answer.reason =
        "no referee: " + (referee.failure.empty() ? "its outputs differ in shape" : without_numbers(referee.failure));
    return answer;
  }
  runs.format = float_format(runs.expected.dtype());
  runs.exact = question.facts->rounding_budget == 0;
  const auto judge = [&](int64_t i) {
    return runs.expected.is_floating() ? judge_number(runs, i) : judge_discrete(runs, i);
  };

  // How well the referee explains eager itself, over all elements.
  int64_t unexplained = 0;
  double eager_ratio = 1, permitted_anywhere = 0;
  for (int64_t i = 0; i < runs.expected.size(); ++i) {
    const ElementState state = judge(i);
    const double ratio = state.eager_ratio;
    permitted_anywhere = std::max(permitted_anywhere, state.permitted);
    if (ratio > 1 && is_undefined(runs, i)) continue;
    if (ratio > kTrustRatio) {
      ++unexplained;
    } else {
      eager_ratio = std::max(eager_ratio, ratio);
    }
  }
  const bool mistrusted = static_cast<double>(unexplained) > kMistrustedShareMax * static_cast<double>(answer.total);

  bool gross = false, varies = false;
  int64_t unjudged = 0;
  answer.special = true;
  int64_t first = -1;
  ElementState first_state;
  for (int64_t i : suspects) {
    const ElementState state = judge(i);
    if (state.ratio <= eager_ratio) {
      answer.nearness = std::max(answer.nearness, kQuickShare + (1 - kQuickShare) * state.ratio / eager_ratio);
      continue;
    }
    if (is_undefined(runs, i)) {
      ++answer.exempt;
      continue;
    }
    if (state.eager_ratio > kTrustRatio) {
      ++unjudged;
      continue;
    }
    gross |= std::isinf(state.ratio) || state.error > kGrossRatio * eager_ratio * permitted_anywhere;
    varies |= state.varies;
    answer.special &= is_special(runs.expected, i) || is_special(runs.actual, i) || is_special(runs.centre, i);
    if (first < 0) first = i, first_state = state;
    ++answer.differing;
  }
  if (answer.differing == 0 && unjudged == 0) return answer;
  // Undefined results are drawn from stage 2 on; more samples help where they spread, or where the program rounds at
  // all.
  const bool more_could_help = runs.expected.is_floating() ? !gross && varies : !runs.exact;
  if (referee.stage < 2 || (referee.stage < kRefereeStages && (more_could_help || unjudged > 0))) {
    answer.kind = Kind::kNeedsRuns;
    return answer;
  }
  if (answer.differing == 0 || mistrusted) {
    answer.kind = Kind::kUnjudged;
    answer.reason = "the referee does not explain the reference's own result: " + question.facts->op;
    return answer;
  }
  answer.kind = Kind::kDiffers;
  describe(question, runs, first, first_state, answer);
  return answer;
}

}  // namespace aotifuzz
