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

/// The dimension that names the symbol that `dim` is; "" when it is none.
std::string symbol_dimension(const Contract& contract, const std::string& dim) {
  const Expr* size = size_of(contract, dim);
  if (!size || size->op() != ExprOp::kSymbol) return "";
  for (const SymbolSpec& symbol : contract.symbols)
    if (symbol.name == size->name()) return symbol.dim;
  return "";
}

void aim_at(const Contract& contract, const std::string& dim, int64_t value, SizeTargets& targets) {
  const std::string symbol = symbol_dimension(contract, dim);
  if (symbol.empty()) return;
  for (const int64_t delta : {-1, 0, 1})
    if (int64_t beside = 0; !__builtin_add_overflow(value, delta, &beside) && beside >= 0)
      targets.values[symbol].insert(beside);
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

SizeTargets assumption_targets(const PackageInfo& package) {
  SizeTargets targets;
  if (!package.compiled || !package.contract.declared) return targets;
  const Contract& contract = package.contract;
  for (const SizeAssumption& one : size_assumptions(package)) {
    if (one.declared) continue;
    const std::string other = one.other.empty() ? "" : symbol_dimension(contract, one.other);
    const std::string dim = symbol_dimension(contract, one.dim);
    if (one.other.empty())
      aim_at(contract, one.dim, one.value, targets);
    else if (!dim.empty() && !other.empty() && dim != other)
      targets.related.emplace_back(dim, other);
  }
  const std::vector<std::string> names = tensor_names(package);
  for (const InputCheck& check : package.compiled->checks) {
    if (check.kind != InputCheck::Kind::kMinSize && check.kind != InputCheck::Kind::kMaxSize) continue;
    if (check.input < 0 || static_cast<size_t>(check.input) >= names.size()) continue;
    aim_at(contract, names[static_cast<size_t>(check.input)] + ".size(" + std::to_string(check.dim) + ")", check.value,
           targets);
  }
  return targets;
}

}  // namespace aotifuzz
