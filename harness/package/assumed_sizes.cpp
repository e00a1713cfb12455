#include "package/assumed_sizes.h"

#include <algorithm>

namespace aotifuzz {
namespace {

/// The contract's expression of a dimension; null when it has none of that name.
const Expr* size_of(const Contract& contract, const std::string& dim) {
  for (const InputSpec& input : contract.inputs)
    for (size_t d = 0; d < input.sizes.size(); ++d)
      if (input.name + ".size(" + std::to_string(d) + ")" == dim) return &input.sizes[d];
  return nullptr;
}

/// Tensor inputs as the wrapper counts them.
std::vector<std::string> tensor_names(const PackageInfo& package) {
  std::vector<std::string> out;
  for (const InputSpec& input : package.contract.inputs)
    if (input.kind == CaseInput::Kind::kTensor) out.push_back(input.name);
  if (out.size() != package.compiled->input_names.size()) out = package.compiled->input_names;
  return out;
}

}  // namespace

std::string SizeAssumption::text() const { return dim + " == " + (other.empty() ? std::to_string(value) : other); }

bool declared_equal(const Contract& contract, const std::string& a, const std::string& b) {
  const Expr* left = size_of(contract, a);
  const Expr* right = size_of(contract, b);
  return a == b || (left && right && left->text() == right->text());
}

std::vector<SizeAssumption> size_assumptions(const PackageInfo& package) {
  std::vector<SizeAssumption> out;
  if (!package.compiled) return out;
  const CompiledModel& compiled = *package.compiled;
  const std::vector<std::string> names = tensor_names(package);
  const auto add = [&](int input, int dim, std::optional<int64_t> value, const std::string& other) {
    if (input < 0 || static_cast<size_t>(input) >= names.size()) return;
    SizeAssumption one;
    one.dim = names[static_cast<size_t>(input)] + ".size(" + std::to_string(dim) + ")";
    one.other = other;
    one.value = value.value_or(0);
    if (one.other == one.dim) return;
    if (value) {
      const Expr* declared = size_of(package.contract, one.dim);
      one.declared = declared && declared->is_constant() && declared->text() == std::to_string(*value);
    } else {
      one.declared = declared_equal(package.contract, one.dim, one.other);
    }
    const bool known = std::any_of(out.begin(), out.end(), [&](const auto& a) { return a.text() == one.text(); });
    if (!known) out.push_back(std::move(one));
  };
  for (const InputCheck& check : compiled.checks)
    if (check.kind == InputCheck::Kind::kStaticSize) add(check.input, check.dim, check.value, "");
  for (const AssumedSize& size : compiled.assumed_sizes) {
    if (size.value) {
      add(size.input, size.dim, size.value, "");
    } else if (const auto dim = compiled.symbol_dims.find(size.symbol); dim != compiled.symbol_dims.end()) {
      add(size.input, size.dim, std::nullopt, dim->second);
    }
  }
  return out;
}

}  // namespace aotifuzz
