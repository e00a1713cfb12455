#include "generators/seed_cases.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "generators/rapidcheck_choices.h"
#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {
namespace {

/// Collects cases, without repeating one.
class SeedCollector {
 public:
  explicit SeedCollector(const CaseModel& model) : model_(model), contract_(model.shapes.contract()) {}

  void add(Case c) {
    for (const Case& known : cases_)
      if (known == c) return;
    cases_.push_back(std::move(c));
  }

  Case plain(const SlotValues& values) const {
    Case c = model_.shapes.make_case(values);
    set_plain_values(contract_, c);
    return c;
  }

  /// Legal values with every slot as near to `size` as the contract and the budget allow.
  SlotValues around(int64_t size) const {
    const std::vector<SlotValues>& pool = model_.shapes.pool();
    const std::vector<ShapeModel::Slot>& slots = model_.shapes.slots();
    for (int64_t wanted = size; wanted > 1; wanted = wanted * 2 / 3) {
      SlotValues equal(slots.size()), staggered(slots.size());
      for (size_t s = 0; s < slots.size(); ++s) {
        equal[s] = slots[s].snap(wanted);
        staggered[s] = slots[s].snap(wanted + static_cast<int64_t>(s));
      }
      for (const SlotValues& values : {staggered, equal})
        if (model_.shapes.legal(values) && model_.shapes.elements(values) <= kElementsMax) return values;
    }
    return pool.front();
  }

  void add_sizes() {
    add(plain(model_.shapes.pool().front()));
    for (const SlotValues& values : model_.shapes.boundary())
      if (model_.shapes.elements(values) <= kElementsMax) add(plain(values));
    for (int64_t size : {2, 3, 5, 8, 16, 17, 33, 40, 70}) add(plain(around(size)));
  }

  /// Each style alone in each input, then the same style in all inputs that have it. Short, so that vector code and its
  /// remainder both run with few elements, and longer than two vectors of bytes.
  void add_values() {
    std::set<std::string_view> names;
    for (int64_t size : {3, 40}) {
      const Case base = plain(around(size));
      for (size_t i = 0; i < contract_.inputs.size(); ++i) {
        if (contract_.inputs[i].kind != CaseInput::Kind::kTensor) continue;
        const InputSpec& spec = contract_.inputs[i];
        for (const ValueStyle& style : value_styles(spec.dtype, spec.role.kind)) {
          names.insert(style.name);
          add(with_style(base, i, style));
        }
      }
      for (std::string_view name : names) add(with_style_everywhere(base, name));
    }
  }

  Case with_style(Case c, size_t i, const ValueStyle& style) const {
    RapidCheckChoices choices(i, 0);
    c.inputs[i].values = style.make(choices, value_context(contract_, c, i));
    return c;
  }

  Case with_style_everywhere(Case c, std::string_view name) const {
    for (size_t i = 0; i < contract_.inputs.size(); ++i) {
      const InputSpec& spec = contract_.inputs[i];
      if (spec.kind != CaseInput::Kind::kTensor) continue;
      for (const ValueStyle& style : value_styles(spec.dtype, spec.role.kind)) {
        // One special input at a time: what happens has one cause.
        if (style.name != name || style.special) continue;
        RapidCheckChoices choices(i, 1);
        c.inputs[i].values = style.make(choices, value_context(contract_, c, i));
      }
    }
    return c;
  }

  void add_checked() {
    std::vector<Case> checked;
    for (const Case& c : cases_)
      if (violations(contract_, c).empty() && checked.size() < 8) checked.push_back(c);
    for (Case& c : checked) {
      c.input_checks = true;
      add(std::move(c));
    }
  }

  void add_placed() {
    for (size_t i = 0; i < contract_.inputs.size(); ++i) {
      if (contract_.inputs[i].kind != CaseInput::Kind::kTensor) continue;
      const Case base = plain(around(17));
      Case offset = base, misaligned = base;
      offset.inputs[i].offset = 1;
      misaligned.inputs[i].misalign_bytes = dtype_bytes(contract_.inputs[i].dtype);
      add(std::move(offset));
      add(std::move(misaligned));
    }
  }

  void add_gaps() {
    for (const Gap& gap : model_.gaps.gaps()) add(gap.example);
  }

  std::vector<Case> take() {
    std::stable_sort(cases_.begin(), cases_.end(), [](const Case& x, const Case& y) { return cost(x) < cost(y); });
    return std::move(cases_);
  }

 private:
  /// Powers of two of the elements: among cases that cost about the same, the order above stays.
  static int cost(const Case& c) {
    int64_t elements = 0;
    for (const CaseInput& input : c.inputs)
      if (input.kind == CaseInput::Kind::kTensor) elements += input.numel();
    int log = 0;
    for (elements /= 256; elements > 0; elements /= 2) ++log;
    return log;
  }

  const CaseModel& model_;
  const Contract& contract_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> seed_cases(const CaseModel& model) {
  SeedCollector seeds(model);
  if (model.shapes.pool().empty()) return {};
  seeds.add_sizes();
  seeds.add_checked();
  seeds.add_values();
  seeds.add_placed();
  seeds.add_gaps();
  return seeds.take();
}

}  // namespace aotifuzz
