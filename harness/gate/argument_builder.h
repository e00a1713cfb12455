#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "gate/argument_draw.h"
#include "gate/size_expr.h"

namespace aotifuzz {

/// How every tensor of a call lies in memory.
enum class DrawnLayout {
  kContiguous,
  kTransposed,  ///< the last two dimensions swapped in memory; tensors of lower rank stay contiguous
  kGaps,        ///< every second element, beginning with the second
};
constexpr DrawnLayout kDrawnLayouts[] = {DrawnLayout::kContiguous, DrawnLayout::kTransposed, DrawnLayout::kGaps};
const char* layout_name(DrawnLayout layout);

/// Which of three kinds of run the arguments are for.
enum class RunKind {
  kSymbolic,  ///< sizes are expressions, tensors on Meta
  kMeta,      ///< sizes are numbers, tensors on Meta
  kKernel,    ///< tensors on the device whose kernels are judged, with values
};

/// One way of calling an operator.
struct CallPoint {
  const std::vector<int>* alternative = nullptr;  ///< by argument
  DrawnLayout layout = DrawnLayout::kContiguous;
  SymbolValues values{};
  int value_seed = 0;  ///< other values in the tensors, of the same kind
};

/// Arguments of one operator, built anew for each call.
class ArgumentBuilder {
 public:
  /// `device`: where the tensors of kernels lie.
  ArgumentBuilder(const c10::FunctionSchema& schema, const DrawnArguments& drawn, c10::Device device = c10::kCPU)
      : schema_(schema), drawn_(drawn), device_(device) {}

  c10::Device device() const { return device_; }

  torch::jit::Stack build(const CallPoint& point, RunKind kind) const;
  /// Tensors of all arguments in order, those of lists too; the same for every run at a point.
  static std::vector<at::Tensor> tensors_of(const torch::jit::Stack& stack);
  /// "x", "xs[1]": by tensor, as tensors_of() gives them.
  std::vector<std::string> tensor_names(const torch::jit::Stack& stack) const;
  /// By tensor: does the schema say that it is written, or that outputs may share its memory?
  std::vector<bool> declared_written(const torch::jit::Stack& stack) const;
  std::vector<bool> declared_aliased(const torch::jit::Stack& stack) const;
  /// "x=f32[B,D] k=$k": of one alternative.
  std::string text(const std::vector<int>& alternative) const;
  /// Most elements of one tensor at these values; the largest int64 where they are more.
  int64_t largest_tensor(const CallPoint& point) const;

 private:
  at::Tensor tensor(const SpecTensor& spec, const CallPoint& point, RunKind kind, const std::string& label) const;
  at::Tensor symbolic_tensor(const SpecTensor& spec, DrawnLayout layout, const std::string& label) const;
  c10::IValue value(size_t argument, const SpecValue& value, const CallPoint& point, RunKind kind) const;
  std::vector<bool> by_tensor(const torch::jit::Stack& stack, bool (*wanted)(const c10::AliasInfo&)) const;

  const c10::FunctionSchema& schema_;
  const DrawnArguments& drawn_;
  c10::Device device_;
};

}  // namespace aotifuzz
