#include "gate/unbacked_sizes.h"

#include <algorithm>
#include <set>

namespace aotifuzz {
namespace {

/// Values that are tried to make an expression of an unbacked size agree.
constexpr int64_t kTriedMax = int64_t{1} << 16;

std::string unbacked_name(size_t index) { return std::string("u").append(std::to_string(index)); }

}  // namespace

SymbolValues bind_unbacked(const SymbolValues& values, const std::vector<UnbackedSize>& unbacked,
                           const std::vector<TensorFacts>& meta, const std::vector<TensorFacts>& kernel,
                           std::vector<FactsDifference>* out_of_range) {
  SymbolValues out = values;
  const size_t first = values.size();
  for (const UnbackedSize& size : unbacked) out.push_back(size.min);
  if (unbacked.empty()) return out;
  std::set<int> bound;
  const auto each_size = [&](const auto& look) {
    for (size_t i = 0; i < std::min(meta.size(), kernel.size()); ++i)
      if (meta[i].defined && kernel[i].defined && meta[i].sizes.size() == kernel[i].sizes.size())
        for (size_t d = 0; d < meta[i].sizes.size(); ++d)
          look(static_cast<int>(i), *meta[i].sizes[d], kernel[i].sizes[d]->integer(values));
  };
  const auto bind = [&](int output, int symbol, int64_t value) {
    bound.insert(symbol);
    out[symbol] = value;
    const UnbackedSize& size = unbacked[symbol - first];
    if (value >= size.min && value <= size.max) return;
    const std::string name = unbacked_name(symbol - first);
    out_of_range->push_back(
        {"meta-wrong-size", output,
         value < size.min ? name + " >= " + std::to_string(size.min) : name + " <= " + std::to_string(size.max),
         name + " = " + std::to_string(value), "a size is outside the range that was declared"});
  };
  each_size([&](int output, const SizeExpr& size, int64_t made) {
    const auto symbol = static_cast<int>(size.value);
    if (size.op == SizeExpr::Op::kSymbol && static_cast<size_t>(symbol) >= first &&
        static_cast<size_t>(symbol) < out.size() && !bound.count(symbol))
      bind(output, symbol, made);
  });
  each_size([&](int output, const SizeExpr& size, int64_t made) {
    std::set<int> symbols;
    size.collect_symbols(&symbols);
    std::erase_if(symbols, [&](int s) { return static_cast<size_t>(s) < first || bound.count(s); });
    if (symbols.size() != 1 || static_cast<size_t>(*symbols.begin()) >= out.size()) return;
    SymbolValues tried = out;
    const int symbol = *symbols.begin();
    const int64_t from = unbacked[symbol - first].min;
    for (int64_t k = 0; k < kTriedMax && from + k <= std::max(made, from) + 1; ++k) {
      tried[symbol] = from + k;
      if (size.integer(tried) != made) continue;
      bind(output, symbol, from + k);
      return;
    }
  });
  return out;
}

std::vector<std::string> names_with_unbacked(std::vector<std::string> names, size_t unbacked) {
  for (size_t i = 0; i < unbacked; ++i) names.push_back(unbacked_name(i));
  return names;
}

}  // namespace aotifuzz
