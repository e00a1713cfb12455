#include "generators/gaps.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "generators/rapidcheck_choices.h"
#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {
namespace {

/// Dtypes that callers confuse with this one, the likeliest first.
std::vector<Dtype> confusable(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return {Dtype::kF64, Dtype::kF16, Dtype::kI32};
    case Dtype::kF64:
      return {Dtype::kF32, Dtype::kI64};
    case Dtype::kF16:
      return {Dtype::kF32, Dtype::kBF16};
    case Dtype::kBF16:
      return {Dtype::kF32, Dtype::kF16};
    case Dtype::kI64:
      return {Dtype::kI32, Dtype::kF32};
    case Dtype::kI32:
      return {Dtype::kI64, Dtype::kF32};
    case Dtype::kU8:
      return {Dtype::kI64, Dtype::kI8};
    case Dtype::kBool:
      return {Dtype::kU8, Dtype::kF32};
    case Dtype::kC64:
      return {Dtype::kC128};
    case Dtype::kC128:
      return {Dtype::kC64};
    default:
      return {Dtype::kF32};
  }
}

bool breaks_one(const ShapeModel& model, const Case& c) { return violations(model.contract(), c).size() == 1; }

int64_t other_size(Choices& choices, int64_t size) {
  switch (choices.below(6)) {
    case 0:
      return size + 1;
    case 1:
      return size - 1;
    case 2:
      return size * 2;
    case 3:
      return size / 2;
    case 4:
      return 1;
    default:
      return choices.between(0, 40);
  }
}

std::optional<Case> change_size(Choices& choices, const Gap& gap, Case c) {
  CaseInput& input = c.inputs[static_cast<size_t>(gap.input)];
  int64_t& size = input.sizes[static_cast<size_t>(gap.dim)];
  const int64_t changed = other_size(choices, size);
  if (changed == size || changed < 0) return std::nullopt;
  size = changed;
  // Exported strides other than dense have no meaning for a size that was never exported.
  if (input.strides) return std::nullopt;
  return c;
}

}  // namespace

GapTable::GapTable(const ShapeModel& model, const ContractBounds& bounds) : breaking_(bounds.breaking) {
  if (model.pool().empty()) return;
  const Contract& contract = model.contract();
  const auto gap_of = [](Gap::Kind kind, size_t input) {
    Gap gap;
    gap.kind = kind;
    gap.input = static_cast<int>(input);
    return gap;
  };
  for (size_t b = 0; b < breaking_.size(); ++b) {
    if (breaking_[b].assignments.empty()) continue;
    Gap gap;
    gap.breaking = static_cast<int>(b);
    add(model, gap);
  }
  for (size_t i = 0; i < contract.inputs.size(); ++i) {
    const InputSpec& spec = contract.inputs[i];
    if (spec.kind != CaseInput::Kind::kTensor) {
      if (spec.is_constant && spec.kind != CaseInput::Kind::kNone) add(model, gap_of(Gap::Kind::kScalar, i));
      continue;
    }
    for (LayoutKind layout : kLayoutKinds) {
      Gap gap = gap_of(Gap::Kind::kLayout, i);
      gap.layout = layout;
      add(model, gap);
    }
    for (Dtype dtype : confusable(spec.dtype)) {
      Gap gap = gap_of(Gap::Kind::kDtype, i);
      gap.dtype = dtype;
      add(model, gap);
    }
    for (size_t d = 0; d < spec.sizes.size(); ++d) {
      Gap gap = gap_of(Gap::Kind::kSize, i);
      gap.dim = static_cast<int>(d);
      add(model, gap);
    }
    add(model, gap_of(Gap::Kind::kZeroTensor, i));
    add(model, gap_of(Gap::Kind::kRank, i));
    for (size_t earlier = 0; earlier < i; ++earlier) {
      for (OverlapKind overlap : {OverlapKind::kSameTensor, OverlapKind::kShifted}) {
        Gap gap = gap_of(Gap::Kind::kOverlap, i);
        gap.other = static_cast<int>(earlier);
        gap.overlap = overlap;
        add(model, gap);
      }
    }
  }
}

void GapTable::add(const ShapeModel& model, Gap gap) {
  // Every try is a fresh stream, so one gap's luck does not move the others.
  constexpr uint64_t kTries = 24;
  for (uint64_t k = 0; k < kTries; ++k) {
    RapidCheckChoices choices(gaps_.size(), k);
    std::optional<Case> c = attempt(choices, gap, model);
    if (!c) continue;
    gap.example = std::move(*c);
    by_kind_[static_cast<size_t>(gap.kind)].push_back(gaps_.size());
    gaps_.push_back(std::move(gap));
    return;
  }
}

std::optional<Case> GapTable::attempt(Choices& choices, const Gap& gap, const ShapeModel& model) const {
  std::optional<Case> c;
  if (gap.kind == Gap::Kind::kSize && gap.breaking >= 0) {
    const std::vector<Assignment>& assignments = breaking_[static_cast<size_t>(gap.breaking)].assignments;
    // They lie from small to large, and a condition breaks as well at small sizes: three of four times the lower half.
    const size_t few = choices.below(4) == 3 ? assignments.size() : (assignments.size() + 1) / 2;
    c = model.make_case(assignments[choices.below(few)]);
    if (!c) return std::nullopt;
    if (!breaks_one(model, *c)) return std::nullopt;
    set_plain_values(model.contract(), *c);
    return c;
  }
  c = model.make_case(choose_plain_sizes(choices, model));
  set_plain_values(model.contract(), *c);
  CaseInput& input = c->inputs[static_cast<size_t>(gap.input)];
  bool applied = true;
  switch (gap.kind) {
    case Gap::Kind::kSize:
      c = change_size(choices, gap, std::move(*c));
      if (c) set_plain_values(model.contract(), *c);
      break;
    case Gap::Kind::kLayout:
      applied = apply_layout(gap.layout, choices, input);
      break;
    case Gap::Kind::kOverlap:
      applied = apply_overlap(gap.overlap, choices, c->inputs[static_cast<size_t>(gap.other)], input);
      break;
    case Gap::Kind::kDtype:
      input.dtype = gap.dtype;
      break;
    case Gap::Kind::kZeroTensor:
      input.zero_tensor = true;
      input.values = ValueRecipe{};
      input.strides.reset();
      break;
    case Gap::Kind::kRank:
      if (input.strides) input.strides->push_back(1);
      input.sizes.push_back(1);
      break;
    case Gap::Kind::kScalar:
      if (input.kind == CaseInput::Kind::kBool)
        input.scalar = int64_t{to_int64(input.scalar) == 0};
      else if (input.kind == CaseInput::Kind::kFloat)
        input.scalar = to_double(input.scalar) + 1.0;
      else
        input.scalar = to_int64(input.scalar) + 1 + static_cast<int64_t>(choices.below(4));
      break;
  }
  if (!applied || !c || !breaks_one(model, *c)) return std::nullopt;
  return c;
}

Case GapTable::draw(Choices& choices, const Gap& gap, const ShapeModel& model) const {
  constexpr int kTries = 4;
  for (int i = 0; i < kTries; ++i)
    if (std::optional<Case> c = attempt(choices, gap, model)) return std::move(*c);
  return gap.example;
}

const Gap& GapTable::pick(Choices& choices, const KindWeights& weights) const {
  KindWeights open = weights;
  for (size_t k = 0; k < Gap::kKinds; ++k)
    if (by_kind_[k].empty()) open[k] = 0;
  return gaps_[choices.pick(by_kind_[choices.weighted(open)])];
}

bool GapTable::has_any(const KindWeights& weights) const {
  for (size_t k = 0; k < Gap::kKinds; ++k)
    if (weights[k] > 0 && !by_kind_[k].empty()) return true;
  return false;
}

}  // namespace aotifuzz
