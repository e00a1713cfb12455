#include "campaign/passes/values_pass.h"

#include <algorithm>
#include <cmath>

#include "campaign/case_complexity.h"

namespace aotifuzz {
namespace {

Number as_kind(Dtype dtype, int64_t value) {
  return dtype_is_floating(dtype) || dtype_is_complex(dtype) ? Number{static_cast<double>(value)} : Number{value};
}

ValueRecipe constant(Dtype dtype, int64_t value) { return {ValueKind::kConst, {as_kind(dtype, value)}, 0, {}}; }

/// Proposals that are simpler than the case, each once.
class Proposals {
 public:
  explicit Proposals(const Case& c) : case_(c), complexity_(case_complexity(c)) {}
  void add(Case candidate) {
    if (case_complexity(candidate) < complexity_ && std::find(out_.begin(), out_.end(), candidate) == out_.end())
      out_.push_back(std::move(candidate));
  }
  void values(size_t input, ValueRecipe recipe) {
    Case candidate = case_;
    candidate.inputs[input].values = std::move(recipe);
    add(std::move(candidate));
  }
  std::vector<Case> take() { return std::move(out_); }

 private:
  const Case& case_;
  const std::vector<int64_t> complexity_;
  std::vector<Case> out_;
};

bool has_values(const CaseInput& input) {
  return input.kind == CaseInput::Kind::kTensor && input.storage_of.empty() && !input.zero_tensor;
}

/// Simpler numbers than `number`, simplest first.
std::vector<Number> simpler(Number number) {
  std::vector<Number> out;
  if (const auto* integer = std::get_if<int64_t>(&number)) {
    const int64_t value = *integer;
    const int64_t nearer = value > 0 ? value - 1 : value + 1;
    const int64_t absolute = value < 0 && value != INT64_MIN ? -value : value;
    for (const int64_t next : std::initializer_list<int64_t>{0, 1, 2, 3, -1, value / 2, absolute, nearer})
      out.emplace_back(next);
  } else {
    const double value = std::get<double>(number);
    for (const double next : {0.0, 1.0, 2.0, -1.0, 0.5, std::trunc(value), std::round(value), std::fabs(value),
                              value / 2, std::round(value * 4) / 4, std::round(value * 10) / 10})
      if (std::isfinite(next) && !(next == 0 && std::signbit(next))) out.emplace_back(next);
  }
  return out;
}

}  // namespace

std::vector<Case> ValuesPass::propose(const Case& c, const Contract&) const {
  Proposals proposals(c);
  for (const int64_t value : {0, 1}) {
    Case all = c;
    for (CaseInput& input : all.inputs)
      if (has_values(input)) input.values = constant(input.dtype, value);
    proposals.add(std::move(all));
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    if (!has_values(input)) continue;
    const auto number = [&](int64_t value) { return as_kind(input.dtype, value); };
    proposals.values(i, constant(input.dtype, 0));
    proposals.values(i, constant(input.dtype, 1));
    proposals.values(i, {ValueKind::kRamp, {number(0), number(1)}, 0, {}});
    proposals.values(i, {ValueKind::kRamp, {number(1), number(1)}, 0, {}});
    proposals.values(i, {ValueKind::kOneHot, {number(0), number(1), number(0)}, 0, {}});
    proposals.values(
        i, {ValueKind::kOneHot, {number(std::max<int64_t>(input.numel() - 1, 0)), number(1), number(0)}, 0, {}});
    ValueRecipe bare = input.values;
    bare.patches.clear();
    proposals.values(i, bare);
    for (const int64_t high : {1, 9})
      proposals.values(i, {ValueKind::kInts, {Number{int64_t{0}}, Number{high}}, 1, {}});
    proposals.values(i, {ValueKind::kInts, {Number{int64_t{-1}}, Number{int64_t{1}}}, 1, {}});
  }
  return proposals.take();
}

std::vector<Case> ElementsPass::propose(const Case& c, const Contract&) const {
  Proposals proposals(c);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    if (input.kind == CaseInput::Kind::kInt || input.kind == CaseInput::Kind::kFloat) {
      for (const Number& number : simpler(input.scalar)) {
        Case candidate = c;
        candidate.inputs[i].scalar = number;
        proposals.add(std::move(candidate));
      }
      continue;
    }
    if (!has_values(input)) continue;
    const ValueRecipe& values = input.values;
    for (size_t p = 0; p < values.patches.size(); ++p) {
      ValueRecipe fewer = values;
      fewer.patches.erase(fewer.patches.begin() + static_cast<std::ptrdiff_t>(p));
      proposals.values(i, fewer);
    }
    for (size_t p = 0; p < values.patches.size(); ++p) {
      ValueRecipe moved = values;
      moved.patches[p].first = 0;
      proposals.values(i, moved);
      for (const Number& number : simpler(values.patches[p].second)) {
        ValueRecipe changed = values;
        changed.patches[p].second = number;
        proposals.values(i, changed);
      }
    }
    const int64_t numel = input.numel();
    if (numel == 1 && (values.kind != ValueKind::kConst || !values.patches.empty()))
      proposals.values(i, {ValueKind::kConst, {value_at(values, 0, 1)}, 0, {}});
    if (numel > 1 && numel <= kListMax && (values.kind != ValueKind::kList || !values.patches.empty())) {
      ValueRecipe list{ValueKind::kList, {}, 0, {}};
      for (int64_t e = 0; e < numel; ++e) list.numbers.push_back(value_at(values, e, numel));
      proposals.values(i, list);
    }
    if (values.kind == ValueKind::kList)
      for (const Number& number : values.numbers) proposals.values(i, {ValueKind::kConst, {number}, 0, {}});
    if (values.kind == ValueKind::kList && numel > 0 && static_cast<int64_t>(values.numbers.size()) > numel) {
      ValueRecipe cut = values;
      cut.numbers.resize(static_cast<size_t>(numel));
      proposals.values(i, cut);
    }
    if (values.kind == ValueKind::kList || values.kind == ValueKind::kConst || values.kind == ValueKind::kOneHot ||
        values.kind == ValueKind::kRamp) {
      for (size_t n = 0; n < values.numbers.size(); ++n) {
        for (const Number& number : simpler(values.numbers[n])) {
          ValueRecipe changed = values;
          changed.numbers[n] = number;
          proposals.values(i, changed);
        }
      }
    }
    if (value_kind_has_seed(values.kind)) {
      for (const uint64_t seed : {1, 2, 3}) {
        ValueRecipe changed = values;
        changed.seed = seed;
        if (changed.seed < values.seed) proposals.values(i, changed);
      }
    }
  }
  return proposals.take();
}

}  // namespace aotifuzz
