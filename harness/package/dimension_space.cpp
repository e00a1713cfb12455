#include "package/dimension_space.h"

#include <algorithm>
#include <limits>

namespace aotifuzz {
namespace {

Expr::Lookup lookup_in(const Assignment& values) {
  return [&values](const std::string& name) {
    const auto it = values.find(name);
    return it == values.end() ? std::optional<int64_t>() : std::optional(it->second);
  };
}

}  // namespace

DimensionSpace::DimensionSpace(const Contract& contract) : contract_(contract) {
  for (const InputSpec& input : contract.inputs) {
    input_sizes_.emplace_back();
    if (input.kind == CaseInput::Kind::kInt && !input.is_constant) all_.push_back(input.name);
    for (size_t d = 0; d < input.sizes.size(); ++d) {
      all_.push_back(input.name + ".size(" + std::to_string(d) + ")");
      sizes_.insert(all_.back());
      input_sizes_.back().push_back(all_.back());
    }
  }
  for (const SymbolSpec& symbol : contract.symbols)
    if (!symbol.dim.empty() && std::find(all_.begin(), all_.end(), symbol.dim) == all_.end())
      all_.push_back(symbol.dim);
  const std::set<std::string> known(all_.begin(), all_.end());
  for (size_t i = 0; i < contract.conditions.size(); ++i) {
    const Condition& condition = contract.conditions[i];
    std::set<std::string> names;
    condition.expr.collect_symbols(names);
    const bool checked =
        !condition.expr.has_opaque() &&
        std::all_of(names.begin(), names.end(), [&](const std::string& n) { return known.contains(n); });
    checked_.push_back(checked);
    const Expr& e = condition.expr;
    if (!checked || condition.kind != Condition::Kind::kSize || e.op() != ExprOp::kEq) continue;
    if (e.args()[0].op() == ExprOp::kSymbol && e.args()[0].name() != e.args()[1].name())
      fixed_by_.try_emplace(e.args()[0].name(), static_cast<int>(i));
  }
  for (const std::string& name : all_)
    if (!fixed_by_.contains(name)) {
      const bool size_or_scalar = sizes_.contains(name) || name.find('.') == std::string::npos;
      (size_or_scalar ? choosable_ : free_strides_).push_back(name);
    }
}

int DimensionSpace::fixed_by(const std::string& name) const {
  const auto it = fixed_by_.find(name);
  return it == fixed_by_.end() ? -1 : it->second;
}

std::optional<Assignment> DimensionSpace::complete(Assignment given, int64_t widening) const {
  if (free_strides_.empty()) return follow(std::move(given));
  std::optional<Assignment> sizes = follow(given);
  for (const std::string& name : free_strides_)
    if (!given.contains(name)) {
      int64_t stride = 0;
      const int64_t dense = sizes ? dense_stride(name, *sizes) : 1;
      if (__builtin_mul_overflow(dense, widening, &stride)) return std::nullopt;
      given[name] = stride;
    }
  return follow(std::move(given));
}

// Of "x.stride(1)": the product of the later sizes; 0 of "x.offset()".
int64_t DimensionSpace::dense_stride(const std::string& name, const Assignment& values) const {
  const size_t open = name.find(".stride(");
  if (open == std::string::npos) return 0;
  const int input = contract_.find_input(name.substr(0, open));
  const size_t dim = std::stoul(name.substr(open + 8));  // a name that this program made
  int64_t stride = 1;
  if (input < 0) return stride;
  const std::vector<std::string>& sizes = input_sizes_[static_cast<size_t>(input)];
  for (size_t d = dim + 1; d < sizes.size(); ++d) {
    const auto size = values.find(sizes[d]);
    const int64_t extent = size == values.end() ? 1 : std::max<int64_t>(size->second, 1);
    if (__builtin_mul_overflow(stride, extent, &stride)) return std::numeric_limits<int64_t>::max();
  }
  return stride;
}

std::optional<Assignment> DimensionSpace::follow(Assignment given) const {
  // An expression may use dimensions that are fixed themselves: as many rounds as there are links in such a chain.
  for (size_t round = 0; round <= fixed_by_.size(); ++round) {
    bool missing = false, added = false;
    for (const auto& [name, condition] : fixed_by_) {
      if (given.contains(name)) continue;
      const std::optional<int64_t> value = contract_.conditions[condition].expr.args()[1].evaluate(lookup_in(given));
      if (value) given[name] = *value;
      (value ? added : missing) = true;
    }
    if (!missing) return given;
    if (!added) break;
  }
  return std::nullopt;
}

std::optional<bool> DimensionSpace::holds(int condition, const Assignment& values) const {
  const std::optional<int64_t> value = contract_.conditions[condition].expr.evaluate(lookup_in(values));
  return value ? std::optional(*value != 0) : std::nullopt;
}

std::vector<int> DimensionSpace::broken(const Assignment& values, size_t most) const {
  std::vector<int> out;
  for (int i = 0; i < static_cast<int>(checked_.size()) && out.size() < most; ++i)
    if (checked_[i] && !holds(i, values).value_or(false)) out.push_back(i);
  return out;
}

bool DimensionSpace::satisfies(const Assignment& values) const {
  const bool negative = std::any_of(values.begin(), values.end(),
                                    [this](const auto& entry) { return entry.second < 0 && is_size(entry.first); });
  return !negative && broken(values, 1).empty();
}

int64_t DimensionSpace::elements(const Assignment& values) const {
  int64_t largest = 0;
  for (const std::vector<std::string>& names : input_sizes_) {
    int64_t count = 1;
    for (const std::string& name : names) {
      const auto it = values.find(name);
      const int64_t size = it == values.end() ? 1 : std::max<int64_t>(it->second, 1);
      if (__builtin_mul_overflow(count, size, &count)) return std::numeric_limits<int64_t>::max();
    }
    largest = std::max(largest, count);
  }
  return largest;
}

}  // namespace aotifuzz
