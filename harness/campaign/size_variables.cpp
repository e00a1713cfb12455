#include "campaign/size_variables.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace aotifuzz {
namespace {

using Values = std::map<std::string, int64_t>;

std::optional<int64_t> evaluate(const Expr& expr, const Values& values) {
  return expr.evaluate([&](const std::string& name) -> std::optional<int64_t> {
    const auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  });
}

std::optional<std::vector<int64_t>> evaluate_all(const std::vector<Expr>& exprs, const Values& values) {
  std::vector<int64_t> out;
  for (const Expr& expr : exprs) {
    const auto value = evaluate(expr, values);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

bool has_spec(const Contract& contract, const Case& c, size_t input) {
  return input < contract.inputs.size() && contract.inputs[input].kind == c.inputs[input].kind &&
         contract.inputs[input].sizes.size() == c.inputs[input].sizes.size();
}

/// Strides of the same kind for other sizes: the order of dimensions and the gap after each stay; a stride of 0 stays
/// 0.
std::vector<int64_t> restride(const std::vector<int64_t>& strides, const std::vector<int64_t>& old_sizes,
                              const std::vector<int64_t>& sizes) {
  std::vector<size_t> order(strides.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] != strides[b] ? strides[a] < strides[b] : a > b; });
  std::vector<int64_t> out = strides;
  std::optional<size_t> inner;
  for (const size_t dim : order) {
    if (strides[dim] == 0) continue;
    if (inner) {
      const int64_t gap = strides[dim] - strides[*inner] * std::max<int64_t>(old_sizes[*inner], 1);
      const int64_t packed = out[*inner] * std::max<int64_t>(sizes[*inner], 1) + gap;
      out[dim] = packed > 0 ? packed : strides[dim];
    }
    inner = dim;
  }
  return out;
}

}  // namespace

SizeVariables::SizeVariables(const Case& c, const Contract& contract) : case_(c), contract_(contract) {
  for (const SymbolSpec& symbol : contract.symbols) {
    if (symbol.unbacked || symbol.dim.empty()) continue;
    if (const auto value = dimension_value(c, symbol.dim)) symbols_[symbol.name] = *value;
  }
  for (const SymbolSpec& symbol : contract.symbols) {
    if (symbol.unbacked || symbols_.count(symbol.name)) continue;
    if (const auto value = solve(symbol.name, symbols_)) symbols_[symbol.name] = *value;
  }
  const std::set<std::string> used = used_symbols();
  for (const SymbolSpec& symbol : contract.symbols) {
    const auto it = symbols_.find(symbol.name);
    if (it == symbols_.end() || !used.count(symbol.name)) continue;
    Variable variable;
    variable.name = symbol.dim.empty() ? dimension_with(symbol.name) : symbol.dim;
    variable.value = it->second;
    variable.least = it->second >= symbol.min ? std::max<int64_t>(symbol.min, 0) : 0;
    variable.tied = true;
    variable.symbol = symbol.name;
    variables_.push_back(std::move(variable));
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    if (input.kind != CaseInput::Kind::kTensor) continue;
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      if (has_spec(contract, c, i) && evaluate(contract.inputs[i].sizes[d], symbols_) == input.sizes[d]) continue;
      Variable variable;
      variable.name = input.name + ".size(" + std::to_string(d) + ")";
      variable.value = input.sizes[d];
      variable.input = static_cast<int>(i);
      variable.dim = static_cast<int>(d);
      variables_.push_back(std::move(variable));
    }
  }
}

std::set<std::string> SizeVariables::used_symbols() const {
  std::set<std::string> out;
  for (size_t i = 0; i < case_.inputs.size(); ++i) {
    if (!has_spec(contract_, case_, i)) continue;
    for (size_t d = 0; d < case_.inputs[i].sizes.size(); ++d)
      if (evaluate(contract_.inputs[i].sizes[d], symbols_) == case_.inputs[i].sizes[d])
        contract_.inputs[i].sizes[d].collect_symbols(out);
  }
  for (const SymbolSpec& symbol : contract_.symbols)
    if (contract_.find_input(symbol.dim) >= 0) out.insert(symbol.name);
  return out;
}

std::string SizeVariables::dimension_with(const std::string& symbol) const {
  for (size_t i = 0; i < case_.inputs.size(); ++i) {
    if (!has_spec(contract_, case_, i)) continue;
    for (size_t d = 0; d < case_.inputs[i].sizes.size(); ++d) {
      std::set<std::string> names;
      contract_.inputs[i].sizes[d].collect_symbols(names);
      if (names.count(symbol)) return case_.inputs[i].name + ".size(" + std::to_string(d) + ")";
    }
  }
  return symbol;
}

std::optional<int64_t> SizeVariables::solve(const std::string& symbol, const Values& known) const {
  // For a symbol that no input states directly, as in x.size(0) == 2*s.
  constexpr int64_t kTries = 1 << 16;
  for (size_t i = 0; i < case_.inputs.size(); ++i) {
    if (!has_spec(contract_, case_, i)) continue;
    for (size_t d = 0; d < case_.inputs[i].sizes.size(); ++d) {
      std::set<std::string> names;
      contract_.inputs[i].sizes[d].collect_symbols(names);
      if (!names.count(symbol)) continue;
      const bool only_unknown = std::all_of(
          names.begin(), names.end(), [&](const std::string& name) { return name == symbol || known.count(name); });
      if (!only_unknown) continue;
      Values values = known;
      for (int64_t t = 0; t <= std::min(case_.inputs[i].sizes[d], kTries); ++t) {
        values[symbol] = t;
        if (evaluate(contract_.inputs[i].sizes[d], values) == case_.inputs[i].sizes[d]) return t;
      }
    }
  }
  return std::nullopt;
}

std::optional<Case> SizeVariables::with(const std::map<size_t, int64_t>& changed) const {
  Values symbols = symbols_;
  std::map<std::pair<int, int>, int64_t> loose;
  for (size_t v = 0; v < variables_.size(); ++v) {
    const Variable& variable = variables_[v];
    const auto it = changed.find(v);
    const int64_t value = it == changed.end() ? variable.value : it->second;
    if (value < 0) return std::nullopt;
    if (variable.tied)
      symbols[variable.symbol] = value;
    else
      loose[{variable.input, variable.dim}] = value;
  }
  Case out = case_;
  for (const SymbolSpec& symbol : contract_.symbols) {
    const int input = contract_.find_input(symbol.dim);
    if (input >= 0 && static_cast<size_t>(input) < out.inputs.size() &&
        out.inputs[input].kind == CaseInput::Kind::kInt && symbols.count(symbol.name))
      out.inputs[input].scalar = symbols.at(symbol.name);
  }
  for (size_t i = 0; i < out.inputs.size(); ++i) {
    CaseInput& input = out.inputs[i];
    if (input.kind != CaseInput::Kind::kTensor) continue;
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      const auto own = loose.find({static_cast<int>(i), static_cast<int>(d)});
      const auto value =
          own != loose.end() ? std::optional(own->second) : evaluate(contract_.inputs[i].sizes[d], symbols);
      if (!value || *value < 0) return std::nullopt;
      input.sizes[d] = *value;
    }
    const std::vector<int64_t>& old_sizes = case_.inputs[i].sizes;
    if (!input.strides || input.sizes == old_sizes) continue;
    const auto exported =
        has_spec(contract_, case_, i) ? evaluate_all(contract_.inputs[i].strides, symbols_) : std::nullopt;
    if (exported && *exported == *input.strides) {
      input.strides = evaluate_all(contract_.inputs[i].strides, symbols);
      if (!input.strides) return std::nullopt;
    } else {
      input.strides = restride(*case_.inputs[i].strides, old_sizes, input.sizes);
    }
    if (*input.strides == CaseInput::dense_strides(input.sizes)) input.strides.reset();
  }
  return out;
}

}  // namespace aotifuzz
