#pragma once

#include <string>
#include <vector>

#include "gate/tensor_facts.h"

namespace aotifuzz {

/// A size that a fake does not know before the kernel has run (new_dynamic_size()): what it says of it.
struct UnbackedSize {
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

/// Values of the symbols with those of the unbacked sizes behind them, in order: each takes the size that the kernel
/// made, so that it agrees with the fake wherever one value can make it agree. One outside its range is a difference.
SymbolValues bind_unbacked(const SymbolValues& values, const std::vector<UnbackedSize>& unbacked,
                           const std::vector<TensorFacts>& meta, const std::vector<TensorFacts>& kernel,
                           std::vector<FactsDifference>* out_of_range);

/// Names of the symbols with u0, u1... behind them.
std::vector<std::string> names_with_unbacked(std::vector<std::string> names, size_t unbacked);

}  // namespace aotifuzz
