#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "gate/size_expr.h"

namespace aotifuzz {

/// What an output looks like, as numbers or as expressions.
struct TensorFacts {
  bool defined = true;
  std::vector<SizeExprPtr> sizes, strides;
  SizeExprPtr offset;
  at::ScalarType dtype = at::kFloat;
  std::optional<at::Device> device;  ///< none: not said
  int alias = -1;                    ///< index of the input whose memory it shares; -1: none

  static TensorFacts of(const at::Tensor& tensor, const std::vector<at::Tensor>& inputs);
  /// "f32[7, 11]", sizes only.
  std::string sizes_text(const SymbolValues& values) const;
  std::string strides_text(const SymbolValues& values) const;
  std::string symbolic_sizes(const std::vector<std::string>& names) const;
  std::string symbolic_strides(const std::vector<std::string>& names) const;
  /// Everything at one point: what two versions of a meta are compared by.
  std::string text(const SymbolValues& values) const;
};

/// One way in which what the meta says differs from what the kernel did.
struct FactsDifference {
  std::string kind;  ///< of fault_kinds.h
  int output = -1;   ///< -1: their number
  std::string meta, kernel;
  std::string message;
};

/// All of them, output by output; of one output the first that matters: a wrong size makes strides wrong too.
/// Strides of dimensions of size 0 or 1, and all of them in an empty tensor, mean nothing.
std::vector<FactsDifference> compare_facts(const std::vector<TensorFacts>& meta, const std::vector<TensorFacts>& kernel,
                                           const SymbolValues& values, const std::vector<std::string>& input_names);

}  // namespace aotifuzz
