#include "worker/index_checks.h"

#include <algorithm>

#include "oracles/host_values.h"

namespace aotifuzz {
namespace {

bool is_integral(const CaseInput& input) {
  return input.kind == CaseInput::Kind::kTensor && dtype_is_integral(input.dtype);
}

}  // namespace

bool may_index(const Case& c) { return std::any_of(c.inputs.begin(), c.inputs.end(), &is_integral); }

bool indices_fit(const Contract& contract, const Case& c, std::span<const at::Tensor> inputs) {
  const Expr::Lookup sizes = [&](const std::string& name) { return dimension_value(c, name); };
  for (size_t i = 0; i < contract.inputs.size() && i < c.inputs.size(); ++i) {
    if (!is_integral(c.inputs[i])) continue;
    const ValueRole& role = contract.inputs[i].role;
    if (role.kind != ValueRole::Kind::kIndex || !role.bound) return false;
    const std::optional<int64_t> bound = role.bound->evaluate(sizes);
    if (!bound) return false;
    const HostValues values(inputs[i]);
    for (int64_t k = 0; k < values.size(); ++k)
      if (values.integer(k) < 0 || values.integer(k) >= *bound) return false;
  }
  return true;
}

bool is_index_error(std::string_view text) {
  for (std::string_view phrase : {"out of range", "out of bounds", "smaller than num_classes", "must be non-negative"})
    if (text.find(phrase) != std::string_view::npos) return true;
  return false;
}

}  // namespace aotifuzz
