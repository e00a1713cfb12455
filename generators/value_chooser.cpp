#include "generators/value_chooser.h"

#include <array>

#include "core/check.h"

namespace aotifuzz {
namespace {

constexpr size_t kStylesMax = 32;

bool takes_values(const CaseInput& input) {
  return input.kind == CaseInput::Kind::kTensor && input.storage_of.empty() && !input.zero_tensor;
}

const ValueStyle& pick_style(Choices& choices, std::span<const ValueStyle> styles, bool special) {
  AOTIFUZZ_CHECK(styles.size() <= kStylesMax) << styles.size();
  std::array<int, kStylesMax> weights{};
  for (size_t i = 0; i < styles.size(); ++i) weights[i] = styles[i].special == special ? styles[i].weight : 0;
  return styles[choices.weighted(std::span<const int>(weights.data(), styles.size()))];
}

const ValueStyle* find_plain(std::span<const ValueStyle> styles, std::string_view name) {
  for (const ValueStyle& style : styles)
    if (!style.special && style.name == name) return &style;
  return nullptr;
}

bool has_special(std::span<const ValueStyle> styles) {
  for (const ValueStyle& style : styles)
    if (style.special) return true;
  return false;
}

std::span<const ValueStyle> styles_of(const InputSpec& spec) { return value_styles(spec.dtype, spec.role.kind); }

bool is_size(const Contract& contract, const std::string& name) {
  for (const SymbolSpec& symbol : contract.symbols)
    if (symbol.dim == name) return true;
  return false;
}

void choose_scalar(Choices& choices, const Contract& contract, const InputSpec& spec, CaseInput& input) {
  if (spec.is_constant || is_size(contract, spec.name)) return;
  static const std::array<double, 5> reals = {1.0, 0.0, 0.5, -2.0, 0.1};
  switch (input.kind) {
    case CaseInput::Kind::kInt:
      input.scalar = choices.below(4) == 3 ? choices.between(-2, 70) : choices.between(1, 9);
      return;
    case CaseInput::Kind::kFloat:
      input.scalar = reals[choices.below(reals.size())];
      return;
    case CaseInput::Kind::kBool:
      input.scalar = static_cast<int64_t>(choices.below(2));
      return;
    default:
      return;
  }
}

}  // namespace

ValueContext value_context(const Contract& contract, const Case& c, size_t input) {
  const InputSpec& spec = contract.inputs[input];
  ValueContext context{spec.dtype, c.inputs[input].numel(), std::nullopt};
  if (spec.role.bound) {
    context.bound = spec.role.bound->is_constant()
                        ? spec.role.bound->value()
                        : spec.role.bound->evaluate([&c](const std::string& name) { return dimension_value(c, name); });
  }
  return context;
}

void choose_values(Choices& choices, const Contract& contract, Case& c) {
  std::string_view theme;
  if (choices.below(2) == 1 && !c.inputs.empty()) {
    const size_t leader = choices.below(c.inputs.size());
    if (takes_values(c.inputs[leader])) theme = pick_style(choices, styles_of(contract.inputs[leader]), false).name;
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    CaseInput& input = c.inputs[i];
    const InputSpec& spec = contract.inputs[i];
    if (!takes_values(input)) {
      choose_scalar(choices, contract, spec, input);
      continue;
    }
    const std::span<const ValueStyle> styles = styles_of(spec);
    const ValueStyle* shared = theme.empty() ? nullptr : find_plain(styles, theme);
    const ValueStyle& style = shared != nullptr ? *shared : pick_style(choices, styles, false);
    input.values = style.make(choices, value_context(contract, c, i));
  }
}

bool has_special_values(const Contract& contract) {
  for (const InputSpec& spec : contract.inputs)
    if (spec.kind == CaseInput::Kind::kTensor && has_special(styles_of(spec))) return true;
  return false;
}

bool choose_special_values(Choices& choices, const Contract& contract, Case& c) {
  choose_values(choices, contract, c);
  std::vector<size_t> candidates;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (takes_values(c.inputs[i]) && has_special(styles_of(contract.inputs[i]))) candidates.push_back(i);
  if (candidates.empty()) return false;
  const size_t i = choices.pick(candidates);
  const ValueStyle& style = pick_style(choices, styles_of(contract.inputs[i]), true);
  c.inputs[i].values = style.make(choices, value_context(contract, c, i));
  return true;
}

void set_plain_values(const Contract& contract, Case& c) {
  BytesChoices simplest({});
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    CaseInput& input = c.inputs[i];
    if (!takes_values(input)) {
      choose_scalar(simplest, contract, contract.inputs[i], input);
      continue;
    }
    // Without the program nobody knows which integers are indices; 0 is one into anything.
    if (!contract.declared && dtype_is_integral(input.dtype)) {
      input.values = ValueRecipe{};
      continue;
    }
    input.values = styles_of(contract.inputs[i])[0].make(simplest, value_context(contract, c, i));
    if (value_kind_has_seed(input.values.kind)) input.values.seed = i + 1;
  }
}

}  // namespace aotifuzz
