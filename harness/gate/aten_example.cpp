#include "gate/aten_example.h"

#include <ATen/ATen.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <numeric>

#include "gate/symbolic_run.h"
#include "gate/symbolic_tensor.h"

namespace aotifuzz {
namespace {

c10::IValue on_cpu(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return value;
  const at::Tensor tensor = value.toTensor();
  std::vector<int64_t> sizes, strides;
  for (const c10::SymInt& size : tensor.sym_sizes())
    sizes.push_back(SizeExpr::of(size)->integer(SymbolicRun::values()));
  for (const c10::SymInt& stride : tensor.sym_strides())
    strides.push_back(SizeExpr::of(stride)->integer(SymbolicRun::values()));
  at::Tensor out = at::empty_strided(sizes, strides, tensor.options().device(at::kCPU));
  return out.fill_(1);
}

}  // namespace

at::Tensor example_result(const AtenCall& call) {
  SymbolicRun::Pause pause;
  c10::impl::ExcludeDispatchKeyGuard off(kAtenRulesKey);
  torch::jit::Stack example;
  for (size_t i = 0; i < call.count(); ++i) {
    c10::IValue value = on_cpu(call.at(i));
    if (value.isDevice()) value = c10::IValue();
    if (value.isSymInt()) value = SizeExpr::of(value.toSymInt())->integer(SymbolicRun::values());
    example.push_back(std::move(value));
  }
  call.op().callBoxed(example);
  return example[0].toTensor();
}

SymSizes strides_ordered_as(const SymSizes& sizes, const at::Tensor& like) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (like.is_contiguous()) return SymbolicTensor::dense_strides(sizes);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return like.stride(static_cast<int64_t>(a)) < like.stride(static_cast<int64_t>(b));
  });
  SymSizes strides(sizes.size());
  c10::SymInt next = 1;
  for (const size_t d : order) {
    strides[d] = next;
    next = next * sizes[d].max(1);
  }
  return strides;
}

}  // namespace aotifuzz
