#include "campaign/passes/real_values_pass.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace aotifuzz {
namespace {

/// What is known of a file's elements.
struct Facts {
  int64_t least_at = -1, greatest_at = -1, special_at = -1;  ///< -1: no finite element, no NaN or infinity
  Number least = int64_t{0}, greatest = int64_t{0}, special = int64_t{0};
  bool integral = true, sorted = true;
  std::vector<Number> distinct;  ///< at most kDistinctMax + 1
};

Facts facts_of(const ValueRecipe& values, int64_t numel) {
  Facts out;
  double last = -HUGE_VAL;
  for (int64_t i = 0; i < std::min(numel, RealValuesPass::kElementsMax); ++i) {
    const Number number = value_at(values, i, numel);
    const double value = to_double(number);
    if (out.distinct.size() <= RealValuesPass::kDistinctMax &&
        std::none_of(out.distinct.begin(), out.distinct.end(), [&](Number n) { return same_number(n, number); }))
      out.distinct.push_back(number);
    if (!std::isfinite(value)) {
      if (out.special_at < 0) out.special_at = i, out.special = number;
      out.integral = out.sorted = false;
      continue;
    }
    out.integral &= value == std::trunc(value);
    out.sorted &= value >= last;
    last = value;
    if (out.least_at < 0 || value < to_double(out.least)) out.least_at = i, out.least = number;
    if (out.greatest_at < 0 || value > to_double(out.greatest)) out.greatest_at = i, out.greatest = number;
  }
  return out;
}

ValueRecipe only(int64_t index, Number value) {
  const Number rest = std::holds_alternative<double>(value) ? Number{0.0} : Number{int64_t{0}};
  return {ValueKind::kConst, {rest}, 0, {{index, value}}};
}

std::vector<ValueRecipe> recipes_like(const ValueRecipe& values, int64_t numel) {
  std::vector<ValueRecipe> out;
  const Facts facts = facts_of(values, numel);
  if (facts.special_at >= 0) {
    out.push_back({ValueKind::kConst, {facts.special}, 0, {}});
    out.push_back(only(facts.special_at, facts.special));
  }
  if (facts.least_at >= 0) {
    for (const Number& number : {facts.greatest, facts.least}) out.push_back({ValueKind::kConst, {number}, 0, {}});
    out.push_back(only(facts.greatest_at, facts.greatest));
    out.push_back(only(facts.least_at, facts.least));
    const Number least = int64_t{to_int64(facts.least)}, greatest = int64_t{to_int64(facts.greatest)};
    if (facts.integral) out.push_back({ValueKind::kInts, {least, greatest}, 1, {}});
    if (facts.integral && facts.sorted) out.push_back({ValueKind::kSorted, {least, greatest}, 1, {}});
    if (!facts.integral)
      out.push_back({ValueKind::kUniform, {to_double(facts.least), to_double(facts.greatest)}, 1, {}});
  }
  if (facts.distinct.size() <= RealValuesPass::kDistinctMax && !facts.distinct.empty())
    out.push_back({ValueKind::kChoice, facts.distinct, 1, {}});
  return out;
}

}  // namespace

std::vector<Case> RealValuesPass::propose(const Case& c, const Contract&) const {
  std::vector<Case> out;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    const bool real = input.kind == CaseInput::Kind::kTensor && input.storage_of.empty() && !input.zero_tensor &&
                      input.values.kind == ValueKind::kFile;
    if (!real) continue;
    for (ValueRecipe& recipe : recipes_like(input.values, input.numel())) {
      Case candidate = c;
      candidate.inputs[i].values = std::move(recipe);
      out.push_back(std::move(candidate));
    }
  }
  return out;
}

}  // namespace aotifuzz
