#include <map>

#include "package/contract_builder.h"

namespace aotifuzz {
namespace {

std::string size_name(const std::string& input, int dim) { return input + ".size(" + std::to_string(dim) + ")"; }

/// "x.size(0)" -> "x_size_0".
std::string stock_symbol(std::string dim) {
  const size_t at = dim.rfind(".size(");
  return dim.substr(0, at) + "_size_" + dim.substr(at + 6, dim.size() - at - 7);
}

}  // namespace

Contract build_contract(const CompiledModel& model) {
  Contract contract;
  contract.declared = false;
  for (size_t i = 0; i < model.input_names.size(); ++i) {
    InputSpec spec;
    spec.name = model.input_names[i].empty() ? "arg" + std::to_string(i) : model.input_names[i];
    spec.device = model.device.empty() ? "cpu" : model.device;
    // A dense tensor has a check for its last stride even where no size has one.
    int rank = 0;
    for (const InputCheck& check : model.checks)
      if (check.input == static_cast<int>(i)) rank = std::max(rank, check.dim + 1);
    std::map<int, int64_t> fixed;
    std::map<int, std::pair<int64_t, std::optional<int64_t>>> ranges;
    std::map<int, int64_t> strides;
    for (const InputCheck& check : model.checks) {
      if (check.input != static_cast<int>(i)) continue;
      if (check.kind == InputCheck::Kind::kDtype) spec.dtype = static_cast<Dtype>(check.value);
      if (check.kind == InputCheck::Kind::kStaticSize) fixed[check.dim] = check.value;
      if (check.kind == InputCheck::Kind::kMinSize) ranges[check.dim].first = check.value;
      if (check.kind == InputCheck::Kind::kMaxSize) ranges[check.dim].second = check.value;
      if (check.kind == InputCheck::Kind::kStaticStride) strides[check.dim] = check.value;
    }
    const int index = static_cast<int>(i);
    std::map<int, std::string> equal;  // dimension -> the one that it must equal
    for (const AssumedSize& size : model.assumed_sizes)
      if (const auto other = model.symbol_dims.find(size.symbol);
          size.input == index && other != model.symbol_dims.end() && other->second != size_name(spec.name, size.dim) &&
          other->second.ends_with(")") && other->second.find(".size(") != std::string::npos)
        equal[size.dim] = other->second;
    for (int d = 0; d < rank; ++d) {
      const std::string name = size_name(spec.name, d);
      const auto add = [&](Condition::Kind kind, ExprOp op, int64_t value) {
        const Expr expr = Expr::make(op, {Expr::symbol(name), Expr::integer(value)});
        contract.conditions.push_back({kind, index, expr, expr.text()});
      };
      if (const auto size = fixed.find(d); size != fixed.end()) {
        spec.sizes.push_back(Expr::integer(size->second));
        add(Condition::Kind::kSize, ExprOp::kEq, size->second);
        continue;
      }
      if (const auto other = equal.find(d); other != equal.end()) {
        spec.sizes.push_back(Expr::symbol(stock_symbol(other->second)));
        const Expr expr = Expr::make(ExprOp::kEq, {Expr::symbol(name), Expr::symbol(other->second)});
        contract.conditions.push_back({Condition::Kind::kSize, index, expr, expr.text()});
        continue;
      }
      SymbolSpec symbol;
      symbol.name = stock_symbol(name);
      symbol.dim = name;
      // As in a declared contract: the generated "at least 2" is export's 0/1 assumption.
      symbol.min = ranges[d].first == 2 ? 0 : ranges[d].first;
      symbol.max = ranges[d].second;
      if (symbol.min > 0) add(Condition::Kind::kRange, ExprOp::kGe, symbol.min);
      if (symbol.max) add(Condition::Kind::kRange, ExprOp::kLe, *symbol.max);
      spec.sizes.push_back(Expr::symbol(symbol.name));
      contract.symbols.push_back(std::move(symbol));
    }
    // Strides without a check depend on sizes: dense from the last one that is fixed.
    spec.strides.assign(static_cast<size_t>(rank), Expr::integer(1));
    for (int d = rank; d-- > 0;) {
      if (const auto stride = strides.find(d); stride != strides.end())
        spec.strides[d] = Expr::integer(stride->second);
      else if (d + 1 < rank)
        spec.strides[d] = Expr::make(ExprOp::kMul, {spec.sizes[d + 1], spec.strides[d + 1]});
    }
    contract.inputs.push_back(std::move(spec));
  }
  return contract;
}

}  // namespace aotifuzz
