#include <algorithm>
#include <map>
#include <set>

#include "package/contract_builder.h"

namespace aotifuzz {
namespace {

std::string size_name(const std::string& input, int dim) { return input + ".size(" + std::to_string(dim) + ")"; }

/// "x.size(0)" -> "x_size_0".
std::string stock_symbol(std::string dim) {
  const size_t at = dim.rfind(".size(");
  return dim.substr(0, at) + "_size_" + dim.substr(at + 6, dim.size() - at - 7);
}

/// What the checks say of one input.
struct Checked {
  std::string name;
  int rank = 0;
  Dtype dtype = Dtype::kUnknown;
  std::map<int, int64_t> fixed, strides;
  std::map<int, std::pair<int64_t, std::optional<int64_t>>> ranges;
  std::map<int, std::string> equal;  ///< dimension -> the one that it must equal

  bool is_free(int dim) const { return dim < rank && !fixed.contains(dim) && !equal.contains(dim); }
};

Checked read_checks(const CompiledModel& model, size_t input) {
  Checked out;
  out.name = model.input_names[input].empty() ? "arg" + std::to_string(input) : model.input_names[input];
  for (const InputCheck& check : model.checks) {
    if (check.input != static_cast<int>(input)) continue;
    // A dense tensor has a check for its last stride even where no size has one.
    out.rank = std::max(out.rank, check.dim + 1);
    if (check.kind == InputCheck::Kind::kDtype) out.dtype = static_cast<Dtype>(check.value);
    if (check.kind == InputCheck::Kind::kStaticSize) out.fixed[check.dim] = check.value;
    if (check.kind == InputCheck::Kind::kMinSize) out.ranges[check.dim].first = check.value;
    if (check.kind == InputCheck::Kind::kMaxSize) out.ranges[check.dim].second = check.value;
    if (check.kind == InputCheck::Kind::kStaticStride) out.strides[check.dim] = check.value;
  }
  for (const AssumedSize& size : model.assumed_sizes)
    if (const auto other = model.symbol_dims.find(size.symbol); size.input == static_cast<int>(input) &&
                                                                other != model.symbol_dims.end() &&
                                                                other->second != size_name(out.name, size.dim))
      out.equal[size.dim] = other->second;
  return out;
}

/// Equal sizes are kept only where the other dimension has a symbol of its own: what a wrapper says may be anything.
void drop_dangling(std::vector<Checked>& inputs) {
  std::set<std::string> free;
  for (const Checked& input : inputs)
    for (int d = 0; d < input.rank; ++d)
      if (input.is_free(d)) free.insert(size_name(input.name, d));
  for (Checked& input : inputs) std::erase_if(input.equal, [&](const auto& one) { return !free.contains(one.second); });
}

}  // namespace

Contract build_contract(const CompiledModel& model) {
  Contract contract;
  contract.declared = false;
  std::vector<Checked> inputs;
  for (size_t i = 0; i < model.input_names.size(); ++i) inputs.push_back(read_checks(model, i));
  drop_dangling(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Checked& checked = inputs[i];
    InputSpec spec;
    spec.name = checked.name;
    spec.dtype = checked.dtype;
    spec.device = model.device.empty() ? "cpu" : model.device;
    for (int d = 0; d < checked.rank; ++d) {
      const std::string name = size_name(spec.name, d);
      const auto add = [&](Condition::Kind kind, ExprOp op, Expr value) {
        const Expr expr = Expr::make(op, {Expr::symbol(name), std::move(value)});
        contract.conditions.push_back({kind, static_cast<int>(i), expr, expr.text()});
      };
      if (const auto size = checked.fixed.find(d); size != checked.fixed.end()) {
        spec.sizes.push_back(Expr::integer(size->second));
        add(Condition::Kind::kSize, ExprOp::kEq, Expr::integer(size->second));
        continue;
      }
      if (const auto other = checked.equal.find(d); other != checked.equal.end()) {
        spec.sizes.push_back(Expr::symbol(stock_symbol(other->second)));
        add(Condition::Kind::kSize, ExprOp::kEq, Expr::symbol(other->second));
        continue;
      }
      SymbolSpec symbol;
      symbol.name = stock_symbol(name);
      symbol.dim = name;
      if (const auto range = checked.ranges.find(d); range != checked.ranges.end()) {
        // As in a declared contract: the generated "at least 2" is export's 0/1 assumption.
        symbol.min = range->second.first == 2 ? 0 : range->second.first;
        symbol.max = range->second.second;
      }
      if (symbol.min > 0) add(Condition::Kind::kRange, ExprOp::kGe, Expr::integer(symbol.min));
      if (symbol.max) add(Condition::Kind::kRange, ExprOp::kLe, Expr::integer(*symbol.max));
      spec.sizes.push_back(Expr::symbol(symbol.name));
      contract.symbols.push_back(std::move(symbol));
    }
    // Strides without a check depend on sizes: dense from the last one that is fixed.
    spec.strides.assign(static_cast<size_t>(checked.rank), Expr::integer(1));
    for (int d = checked.rank; d-- > 0;) {
      if (const auto stride = checked.strides.find(d); stride != checked.strides.end())
        spec.strides[d] = Expr::integer(stride->second);
      else if (d + 1 < checked.rank)
        spec.strides[d] = Expr::make(ExprOp::kMul, {spec.sizes[d + 1], spec.strides[d + 1]});
    }
    contract.inputs.push_back(std::move(spec));
  }
  return contract;
}

}  // namespace aotifuzz
