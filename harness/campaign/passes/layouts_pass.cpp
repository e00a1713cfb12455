#include "campaign/passes/layouts_pass.h"

#include <algorithm>
#include <numeric>

namespace aotifuzz {
namespace {

void own_storage(Case& c, size_t i) {
  CaseInput& input = c.inputs[i];
  if (input.storage_of.empty()) return;
  // The values were the owner's, so the closest plain input has the owner's recipe.
  for (const CaseInput& owner : c.inputs)
    if (owner.name == input.storage_of) input.values = owner.values;
  input.storage_of.clear();
}

void exported_strides(Case& c, size_t i, const Contract& contract) {
  CaseInput& input = c.inputs[i];
  if (!input.strides) return;
  input.strides.reset();
  if (i >= contract.inputs.size() || contract.inputs[i].strides.size() != input.sizes.size()) return;
  // Exported strides that are not dense have to be stated; their expressions are over symbols that the sizes give.
  std::vector<int64_t> strides;
  for (const Expr& expr : contract.inputs[i].strides) {
    const auto value = expr.evaluate([&](const std::string& name) -> std::optional<int64_t> {
      for (const SymbolSpec& symbol : contract.symbols)
        if (symbol.name == name && !symbol.dim.empty()) return dimension_value(c, symbol.dim);
      return std::nullopt;
    });
    if (!value) return;
    strides.push_back(*value);
  }
  if (strides != CaseInput::dense_strides(input.sizes)) input.strides = strides;
}

/// The same order of dimensions without gaps.
std::vector<int64_t> packed(const CaseInput& input) {
  std::vector<size_t> order(input.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return (*input.strides)[a] != (*input.strides)[b] ? (*input.strides)[a] < (*input.strides)[b] : a > b;
  });
  std::vector<int64_t> out = *input.strides;
  int64_t next = 1;
  for (const size_t dim : order) {
    if (out[dim] == 0) continue;
    out[dim] = next;
    next *= std::max<int64_t>(input.sizes[dim], 1);
  }
  return out;
}

}  // namespace

std::vector<Case> LayoutsPass::propose(const Case& c, const Contract& contract) const {
  std::vector<Case> out;
  const auto add = [&](Case candidate) {
    if (!(candidate == c) && std::find(out.begin(), out.end(), candidate) == out.end())
      out.push_back(std::move(candidate));
  };
  const auto plain = [&](Case& x, size_t i) {
    own_storage(x, i);
    exported_strides(x, i, contract);
    x.inputs[i].offset = 0;
    x.inputs[i].misalign_bytes = 0;
    x.inputs[i].zero_tensor = false;
  };
  Case all = c;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (c.inputs[i].kind == CaseInput::Kind::kTensor) plain(all, i);
  add(all);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const CaseInput& input = c.inputs[i];
    if (input.kind != CaseInput::Kind::kTensor) continue;
    const auto changed = [&](auto change) {
      Case one = c;
      change(one);
      add(std::move(one));
    };
    changed([&](Case& x) { plain(x, i); });
    changed([&](Case& x) { own_storage(x, i); });
    changed([&](Case& x) { exported_strides(x, i, contract); });
    changed([&](Case& x) { x.inputs[i].offset = 0; });
    changed([&](Case& x) { x.inputs[i].misalign_bytes = 0; });
    changed([&](Case& x) { x.inputs[i].zero_tensor = false; });
    for (const int64_t offset : {int64_t{1}, input.offset / 2, input.offset - 1})
      if (offset > 0 && offset < input.offset) changed([&](Case& x) { x.inputs[i].offset = offset; });
    if (input.misalign_bytes > 1) changed([&](Case& x) { x.inputs[i].misalign_bytes = 1; });
    if (input.strides) {
      const std::vector<int64_t> tight = packed(input);
      if (tight != CaseInput::dense_strides(input.sizes)) changed([&](Case& x) { x.inputs[i].strides = tight; });
      for (size_t d = 0; d < tight.size(); ++d)
        if ((*input.strides)[d] > tight[d] + 1) changed([&](Case& x) { (*x.inputs[i].strides)[d] = tight[d] + 1; });
    }
  }
  return out;
}

}  // namespace aotifuzz
