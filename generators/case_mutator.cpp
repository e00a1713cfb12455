#include "generators/case_mutator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generators/layouts.h"
#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {
namespace {

constexpr int kTries = 8;
/// Cases that reach something new are often large, and would be built upon until all cases are: most mutations of a
/// case beyond this many elements make it smaller first.
constexpr int64_t kModest = 1 << 12;

bool takes_values(const CaseInput& input) {
  return input.kind == CaseInput::Kind::kTensor && input.storage_of.empty() && !input.zero_tensor;
}

/// Are its values legal with some sizes only?
bool is_tied(const InputSpec& spec) {
  switch (spec.role.kind) {
    case ValueRole::Kind::kIndex:
    case ValueRole::Kind::kOffsets:
    case ValueRole::Kind::kSorted:
    case ValueRole::Kind::kCount:
      return true;
    default:
      return false;
  }
}

/// Index of an input for which `test` holds; -1 when there is none.
template <class Test>
int pick_input(const Case& c, Choices& choices, Test test) {
  std::vector<int> candidates;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (test(c.inputs[i])) candidates.push_back(static_cast<int>(i));
  return candidates.empty() ? -1 : choices.pick(candidates);
}

/// The sizes that the contract's symbols have in `c`; nullopt when a symbol's dimension is not there.
std::optional<SlotValues> slots_of(const ShapeModel& model, const Case& c) {
  SlotValues values;
  for (const ShapeModel::Slot& slot : model.slots()) {
    const std::optional<int64_t> value = dimension_value(c, slot.dim);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

int64_t moved(int64_t value, const ShapeModel::Slot& slot, Choices& choices) {
  switch (choices.weighted(std::array<int, 6>{4, 4, 3, 3, slot.landmarks.empty() ? 0 : 3, 2})) {
    case 0:
      return value + slot.step;
    case 1:
      return value - slot.step;
    case 2:
      return value > ShapeModel::kSizeMax / 2 ? value : value * 2;
    case 3:
      return value / 2;
    case 4:
      return choices.pick(slot.landmarks);
    default:
      return value + slot.step * choices.between(-16, 16);
  }
}

Number changed_number(Number number, Choices& choices) {
  if (std::holds_alternative<int64_t>(number)) {
    const int64_t value = std::get<int64_t>(number);
    // Within half of the range nothing overflows.
    const bool large = value > (int64_t{1} << 62) || value < -(int64_t{1} << 62);
    switch (choices.below(large ? 1 : 4)) {
      case 0:
        return large ? value / 2 : value + 1;
      case 1:
        return value - 1;
      case 2:
        return value * 2;
      default:
        return -value;
    }
  }
  const double value = std::get<double>(number);
  static constexpr std::array<double, 6> kFactors = {2, 0.5, 16, 0.0625, -1, 1.0009765625};
  return value == 0 ? 1.0 : value * kFactors[choices.below(kFactors.size())];
}

}  // namespace

bool CaseMutator::fits(const Case& c) const {
  const std::vector<InputSpec>& inputs = model_->shapes.contract().inputs;
  return std::equal(c.inputs.begin(), c.inputs.end(), inputs.begin(), inputs.end(),
                    [](const CaseInput& input, const InputSpec& spec) { return input.name == spec.name; });
}

/// Sizes and strides as the contract has them, values and placement as they were; values whose meaning depends on sizes
/// (indices, offsets) anew.
void CaseMutator::take_sizes(const SlotValues& values, Case& c, Choices& choices) const {
  Case sized = model_->shapes.make_case(values);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    CaseInput &to = sized.inputs[i], &from = c.inputs[i];
    if (to.kind != from.kind) continue;
    if (to.kind != CaseInput::Kind::kTensor) {
      // A scalar that is a size has been set; another keeps its value.
      const bool is_slot = std::any_of(model_->shapes.slots().begin(), model_->shapes.slots().end(),
                                       [&](const ShapeModel::Slot& slot) { return slot.dim == to.name; });
      if (!is_slot) to.scalar = from.scalar;
      continue;
    }
    if (from.storage_of.empty()) to.values = from.values;
    to.offset = from.offset;
    to.misalign_bytes = from.misalign_bytes;
  }
  c.inputs = std::move(sized.inputs);
  if (std::none_of(model_->shapes.contract().inputs.begin(), model_->shapes.contract().inputs.end(), is_tied)) return;
  Case redrawn = c;
  choose_values(choices, model_->shapes.contract(), redrawn);
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (is_tied(model_->shapes.contract().inputs[i])) c.inputs[i].values = redrawn.inputs[i].values;
}

void CaseMutator::change_size(Case& c, Choices& choices) const {
  const ShapeModel& shapes = model_->shapes;
  std::optional<SlotValues> values = slots_of(shapes, c);
  if (!values || values->empty()) return;
  for (int tries = 0; tries < kTries; ++tries) {
    SlotValues tried = *values;
    const size_t s = choices.below(tried.size());
    tried[s] = shapes.slots()[s].snap(moved(tried[s], shapes.slots()[s], choices));
    if (shapes.has_free_strides()) shapes.settle_strides(tried, choices.between(0, 2));
    if (tried == *values || !shapes.legal(tried)) continue;
    // What is large already stays possible; what would grow past a budget, mostly a small one, does not.
    const int64_t budget = int64_t{1} << choices.between(8, 18);
    if (shapes.elements(tried) > std::max(budget, shapes.elements(*values))) continue;
    take_sizes(tried, c, choices);
    return;
  }
}

void CaseMutator::make_modest(Case& c, Choices& choices) const {
  const ShapeModel& shapes = model_->shapes;
  std::optional<SlotValues> values = slots_of(shapes, c);
  if (!values || values->empty() || shapes.elements(*values) <= kModest) return;
  SlotValues tried = *values;
  for (int tries = 0; tries < 4 * kTries && shapes.elements(tried) > kModest; ++tries) {
    const size_t s = choices.below(tried.size());
    SlotValues smaller = tried;
    smaller[s] = shapes.slots()[s].snap(smaller[s] / 2);
    if (shapes.has_free_strides()) shapes.settle_strides(smaller, 0);
    if (shapes.legal(smaller)) tried = std::move(smaller);
  }
  if (tried != *values) take_sizes(tried, c, choices);
}

void CaseMutator::change_recipe(Case& c, Choices& choices) const {
  const int i = pick_input(c, choices, takes_values);
  if (i < 0) return;
  ValueRecipe& recipe = c.inputs[static_cast<size_t>(i)].values;
  const Dtype dtype = c.inputs[static_cast<size_t>(i)].dtype;
  const bool by_number = dtype_is_floating(dtype) && !recipe.numbers.empty();
  if (value_kind_has_seed(recipe.kind) && (!by_number || choices.below(2) == 0)) {
    recipe.seed = 1 + choices.below(1u << 20);
    return;
  }
  // Integers may be indices, whose range a new draw knows and this does not.
  if (!by_number) return;
  ValueRecipe changed = recipe;
  Number& number = changed.numbers[choices.below(changed.numbers.size())];
  number = changed_number(number, choices);
  // An empty or reversed range is no recipe.
  const bool is_range = recipe.kind == ValueKind::kUniform || recipe.kind == ValueKind::kSteps;
  if (is_range && !(to_double(changed.numbers[0]) < to_double(changed.numbers[1]))) return;
  if (!std::isfinite(to_double(number))) return;
  recipe = std::move(changed);
}

void CaseMutator::change(Case& c, Choices& choices) const {
  const Contract& contract = model_->shapes.contract();
  switch (choices.weighted(std::array<int, 7>{30, 8, 22, 22, 8, 5, 5})) {
    case 0:
      return change_size(c, choices);
    case 1:
      return take_sizes(choose_sizes(choices, model_->shapes), c, choices);
    case 2: {
      Case redrawn = c;
      choose_values(choices, contract, redrawn);
      const int i = pick_input(c, choices, takes_values);
      if (i >= 0) c.inputs[static_cast<size_t>(i)].values = redrawn.inputs[static_cast<size_t>(i)].values;
      return;
    }
    case 3:
      return change_recipe(c, choices);
    case 4: {
      const int i = pick_input(c, choices, takes_values);
      if (i >= 0) choose_placement(choices, c.inputs[static_cast<size_t>(i)]);
      return;
    }
    case 5: {
      Case redrawn = c;
      choose_values(choices, contract, redrawn);
      for (size_t i = 0; i < c.inputs.size(); ++i)
        if (c.inputs[i].storage_of.empty()) c.inputs[i].values = redrawn.inputs[i].values;
      return;
    }
    default:
      c.input_checks = !c.input_checks;
  }
}

Case CaseMutator::mutate(const Case& c, Choices& choices) const {
  if (choices.below(2) == 1) return fresh_->draw(choices, model_->shapes.contract());
  Case changed = c;
  if (choices.below(8) != 0) make_modest(changed, choices);
  const int64_t changes = choices.between(1, 3);
  for (int64_t k = 0; k < changes; ++k) change(changed, choices);
  return changed;
}

Case CaseMutator::cross(const Case& c, const Case& other, Choices& choices) const {
  Case crossed = c;
  for (size_t i = 0; i < crossed.inputs.size(); ++i) {
    CaseInput& input = crossed.inputs[i];
    const CaseInput& theirs = other.inputs[i];
    if (!takes_values(input) || !takes_values(theirs) || input.dtype != theirs.dtype) continue;
    if (!is_tied(model_->shapes.contract().inputs[i]) && choices.below(2) == 1) input.values = theirs.values;
    if (choices.below(2) == 1) input.offset = theirs.offset, input.misalign_bytes = theirs.misalign_bytes;
  }
  return crossed;
}

}  // namespace aotifuzz
