#include "oracles/term_count.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

#include "oracles/referee_hook.h"

namespace aotifuzz {
namespace {

/// Tensors of the arguments, lists flattened.
std::vector<at::Tensor> tensors_of(const torch::jit::Stack& arguments) {
  std::vector<at::Tensor> out;
  for (c10::IValue value : arguments)
    change_tensors(value, [&](const at::Tensor& tensor, size_t) {
      out.push_back(tensor);
      return tensor;
    });
  return out;
}

int64_t product(at::IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t size_along(const at::Tensor& tensor, int64_t dim) {
  const int64_t rank = tensor.dim();
  if (dim < -rank || dim >= rank) return 1;
  return tensor.size(dim);
}

}  // namespace

int64_t count_terms(Length length, const c10::FunctionSchema& schema, const torch::jit::Stack& arguments) {
  const std::vector<at::Tensor> tensors = tensors_of(arguments);
  if (tensors.empty()) return 1;
  const at::Tensor& first = tensors[0];
  const auto argument = [&](std::string_view name) -> const c10::IValue* {
    for (size_t i = 0; i < schema.arguments().size(); ++i)
      if (schema.arguments()[i].name() == name && !arguments[i].isNone()) return &arguments[i];
    return nullptr;
  };
  int64_t largest = 1;
  for (const at::Tensor& tensor : tensors) largest = std::max(largest, tensor.numel());
  switch (length) {
    case Length::kOne:
      return 1;
    case Length::kReduced:
    case Length::kDim: {
      if (const c10::IValue* dim = argument("dim")) {
        if (dim->isInt()) return size_along(first, dim->toInt());
        if (dim->isIntList() && !dim->toIntVector().empty()) {
          int64_t terms = 1;
          for (int64_t d : dim->toIntVector()) terms *= size_along(first, d);
          return terms;
        }
      }
      if (const c10::IValue* kernel = argument("kernel_size"); kernel && kernel->isIntList())
        return product(kernel->toIntVector());
      return std::max<int64_t>(first.numel(), 1);
    }
    case Length::kLast: {
      for (const char* name : {"mat1", "batch1", "mat", "vec"})
        if (const c10::IValue* matrix = argument(name); matrix && matrix->isTensor())
          return size_along(matrix->toTensor(), -1);
      int64_t terms = 1;
      for (const at::Tensor& tensor : tensors) terms = std::max(terms, size_along(tensor, -1));
      return terms;
    }
    case Length::kConv: {
      const c10::IValue* weight = argument("weight");
      if (!weight || !weight->isTensor() || weight->toTensor().dim() < 2 || weight->toTensor().numel() == 0)
        return largest;
      const at::Tensor& tensor = weight->toTensor();
      // A transposed convolution's weight has the input channels first.
      const c10::IValue* flag = argument("transposed");
      const bool transposed = flag ? flag->toBool() : schema.name().find("transpose") != std::string::npos;
      return tensor.numel() / (transposed ? tensor.size(1) : tensor.size(0));
    }
    case Length::kNormalized:
      if (const c10::IValue* shape = argument("normalized_shape"); shape && shape->isIntList())
        return product(shape->toIntVector());
      return first.dim() > 1 && first.size(1) > 0 ? first.numel() / first.size(1) : first.numel();
    case Length::kAttention:
      return tensors.size() > 1 ? size_along(first, -1) + size_along(tensors[1], -2) : largest;
    case Length::kScattered: {
      int64_t terms = 1;
      for (const at::Tensor& tensor : tensors)
        if (!tensor.is_floating_point() && !tensor.is_complex()) terms = std::max(terms, tensor.numel());
      return terms;
    }
    case Length::kAll:
      return largest;
  }
  return largest;
}

}  // namespace aotifuzz
