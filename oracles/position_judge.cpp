#include "oracles/position_judge.h"

#include <algorithm>
#include <cmath>

#include "oracles/float_format.h"
#include "oracles/host_values.h"
#include "oracles/op_traits.h"

namespace aotifuzz {
namespace {

using Kind = TensorAnswer::Kind;

constexpr double kSpreadFactor = 4;  // as in output_judge
constexpr double kUlps = 2;

at::Tensor operand_of(const RunRecord& record, const std::string& name) {
  for (const auto& [key, tensor] : record.watched)
    if (key == name) return tensor;
  return {};
}

/// How positions of one output map to elements of the operand, both row-major.
struct Layout {
  int64_t inner = 1;      ///< elements per step along the dimension
  int64_t length = 1;     ///< positions are below this
  int64_t positions = 1;  ///< positions along the dimension per line (1, k or length)

  int64_t element(int64_t output, int64_t position) const {
    const int64_t in = output % inner, line = output / inner / positions;
    return (line * length + position) * inner + in;
  }
};

/// False when the output cannot be a full set of positions of this operand.
bool find_layout(const at::Tensor& operand, const OutputFacts& facts, int64_t outputs, Layout& layout) {
  if (facts.arg_flat || operand.dim() == 0) {
    layout.length = operand.numel();
    return outputs == 1;
  }
  const int64_t dim = facts.arg_dim < 0 ? facts.arg_dim + operand.dim() : facts.arg_dim;
  if (dim < 0 || dim >= operand.dim()) return false;
  layout.length = operand.size(dim);
  int64_t outer = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= operand.size(d);
  for (int64_t d = dim + 1; d < operand.dim(); ++d) layout.inner *= operand.size(d);
  const int64_t lines = outer * layout.inner;
  if (lines == 0) return outputs == 0;
  layout.positions = outputs / lines;
  return layout.positions * lines == outputs && layout.positions >= 1;
}

struct Operands {
  HostValues eager, centre;
  std::vector<HostValues> rounded, undefined;
};

bool is_undefined(const Operands& operands, int64_t element) {
  for (const HostValues& sample : operands.undefined)
    if (!HostValues::same(sample, operands.centre, element)) return true;
  return false;
}

/// Largest move of one element of the operand over the samples.
double spread_at(const Operands& operands, int64_t element) {
  double spread = 0;
  for (const HostValues& sample : operands.rounded) {
    const double move = std::abs(sample.real(element) - operands.centre.real(element));
    if (std::isfinite(move)) spread = std::max(spread, move);
  }
  return spread;
}

/// A near tie: rounding alone may put either element first.
bool is_near_tie(const Operands& operands, int64_t chosen, int64_t expected, const FloatFormat& format, double* gap,
                 double* permitted) {
  const double a = operands.centre.real(chosen), b = operands.centre.real(expected);
  // int64 has values that a double does not: compare those as they are.
  const bool equal = HostValues::same_value(operands.centre, chosen, expected);
  *gap = std::abs(a - b);
  if (!equal && *gap == 0 && !operands.centre.is_floating()) *gap = 1;
  const double spread = spread_at(operands, chosen) + spread_at(operands, expected);
  // An operand that no rounding touches has no near ties.
  const double ulps = spread > 0 && format.precision ? kUlps * format.spacing(std::max(std::abs(a), std::abs(b))) : 0;
  *permitted = kSpreadFactor * spread + ulps;
  if (equal || *gap <= *permitted) return true;
  for (const HostValues& sample : operands.rounded)
    if (std::isnan(sample.real(chosen)) && std::isnan(sample.real(expected))) return true;
  return false;
}

}  // namespace

TensorAnswer judge_positions(const TensorQuestion& question, const RefereeRuns& referee) {
  TensorAnswer answer;
  const OutputFacts& facts = *question.facts;
  const HostValues expected(question.expected), actual(question.actual);
  answer.total = expected.size();
  const at::Tensor operand = question.reference ? operand_of(*question.reference, facts.arg_operand) : at::Tensor();
  Layout layout;
  if (!operand.defined() || !find_layout(operand, facts, expected.size(), layout)) {
    bool equal = true;
    for (int64_t i = 0; i < expected.size() && equal; ++i) equal = expected.integer(i) == actual.integer(i);
    if (equal) return answer;
    answer.kind = Kind::kUnjudged;
    answer.reason = "operand not recorded: " + facts.arg_op;
    return answer;
  }
  Operands operands;
  operands.eager = HostValues(operand);
  if (referee.available()) {
    operands.centre = HostValues(operand_of(*referee.centre, facts.arg_operand));
    for (const RunRecord* record : referee.rounded)
      operands.rounded.emplace_back(operand_of(*record, facts.arg_operand));
    for (const RunRecord* record : referee.undefined)
      operands.undefined.emplace_back(operand_of(*record, facts.arg_operand));
    const auto wrong_size = [&](const HostValues& values) { return values.size() != operands.eager.size(); };
    std::erase_if(operands.rounded, wrong_size);
    std::erase_if(operands.undefined, wrong_size);
  }
  const bool has_referee = referee.available() && operands.centre.size() == operands.eager.size();
  const bool distinct = arg_reduction(facts.arg_op) && arg_reduction(facts.arg_op)->distinct;
  const FloatFormat format = float_format(operands.eager.dtype());
  bool undecided = false;

  const auto differs = [&](int64_t i, double gap, double permitted, int64_t chosen_element, int64_t expected_element) {
    if (answer.differing++ > 0) return;
    answer.index = index_text(i, question.expected.sizes());
    answer.expected = expected.text(i);
    answer.actual = actual.text(i);
    if (expected_element >= 0) answer.expected += " (value " + operands.eager.text(expected_element) + ")";
    answer.actual += chosen_element >= 0 ? " (value " + operands.eager.text(chosen_element) + ")" : " (out of range)";
    answer.centre = has_referee && expected_element >= 0 ? operands.centre.text(expected_element) : "";
    answer.permitted = number_text(permitted);
    answer.error = chosen_element >= 0 ? number_text(gap) : "out of range";
  };

  for (int64_t i = 0; i < expected.size(); ++i) {
    const int64_t want = expected.integer(i), got = actual.integer(i);
    if (want == got) continue;
    // A cast on the way (to int8, to bool) may leave numbers that are no positions any more: then only equality counts.
    if (want < 0 || want >= layout.length) {
      differs(i, 0, 0, -1, -1);
      continue;
    }
    const int64_t wanted = layout.element(i, want);
    if (got < 0 || got >= layout.length) {
      differs(i, 0, 0, -1, wanted);
      continue;
    }
    const int64_t chosen = layout.element(i, got);
    if (HostValues::same_value(operands.eager, wanted, chosen)) {
      if (!facts.arg_stable) continue;
      // Only where rounding cannot have broken the tie on one side.
      if (has_referee && spread_at(operands, wanted) == 0 && spread_at(operands, chosen) == 0 &&
          !is_undefined(operands, wanted) && !is_undefined(operands, chosen))
        differs(i, 0, 0, chosen, wanted);
      undecided |= !has_referee;
      continue;
    }
    if (!has_referee) {
      undecided = true;
      continue;
    }
    double gap = 0, permitted = 0;
    if (is_near_tie(operands, chosen, wanted, format, &gap, &permitted)) continue;
    if (is_undefined(operands, chosen) || is_undefined(operands, wanted)) {
      ++answer.exempt;
      continue;
    }
    differs(i, gap, permitted, chosen, wanted);
  }

  if (distinct && answer.differing == 0) {
    // Values agree everywhere, so a repeated position stands for an element that is missing.
    std::vector<int64_t> line(static_cast<size_t>(layout.positions));
    const int64_t lines = layout.positions ? expected.size() / layout.positions : 0;
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t start = l / layout.inner * layout.positions * layout.inner + l % layout.inner;
      for (int64_t k = 0; k < layout.positions; ++k) line[k] = actual.integer(start + k * layout.inner);
      std::sort(line.begin(), line.end());
      const auto repeated = std::adjacent_find(line.begin(), line.end());
      if (repeated == line.end()) continue;
      if (answer.differing++ == 0) {
        answer.index = index_text(start, question.expected.sizes());
        answer.expected = "positions that differ along the dimension";
        answer.actual = "position " + std::to_string(*repeated) + " twice";
        answer.error = "repeated position";
      }
    }
  }
  if (answer.differing > 0 || undecided) {
    if (referee.stage < 2 && (referee.stage == 0 || has_referee)) {
      answer.kind = Kind::kNeedsRuns;
    } else if (!has_referee && answer.differing == 0) {
      answer.kind = Kind::kUnjudged;
      answer.reason = "no referee: " + without_numbers(referee.failure);
    } else {
      answer.kind = Kind::kDiffers;
    }
  }
  return answer;
}

}  // namespace aotifuzz
