#include "gate/aten_call.h"

#include <ATen/core/Tensor.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>

#include "gate/symbolic_run.h"
#include "gate/symbolic_tensor.h"

namespace aotifuzz {
namespace {

bool symbolic(const at::Tensor& tensor) {
  return tensor.defined() && tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

bool symbolic(const c10::IValue& value) {
  if (value.isTensor()) return symbolic(value.toTensor());
  if (value.isSymInt()) return value.toSymInt().is_symbolic();
  if (value.isTensorList()) {
    const auto tensors = value.toTensorVector();
    return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& t) { return symbolic(t); });
  }
  if (value.isList())
    for (const c10::IValue& element : value.toListRef())
      if (symbolic(element)) return true;
  return false;
}

c10::SymInt broadcast_size(const c10::SymInt& a, const c10::SymInt& b) {
  if (TORCH_GUARD_OR_FALSE(a.sym_eq(1))) return b;
  if (TORCH_GUARD_OR_FALSE(b.sym_eq(1)) || TORCH_GUARD_OR_FALSE(a.sym_eq(b))) return a;
  if (a.sym_eq(1).guard_bool(__FILE__, __LINE__)) return b;
  if (b.sym_eq(1).guard_bool(__FILE__, __LINE__)) return a;
  TORCH_CHECK(a.sym_eq(b).expect_true(__FILE__, __LINE__), "sizes ", a, " and ", b, " cannot be broadcast");
  return a;
}

}  // namespace

std::optional<int64_t> AtenCall::integer(size_t i) const {
  if (i >= count_ || at(i).isNone()) return std::nullopt;
  return at(i).toInt();
}

std::optional<at::ScalarType> AtenCall::dtype(size_t i) const {
  const auto code = integer(i);
  if (!code) return std::nullopt;
  return static_cast<at::ScalarType>(*code);
}

std::vector<bool> AtenCall::reduced(size_t i, int64_t rank) const {
  std::vector<bool> out(rank, false);
  std::vector<int64_t> dimensions;
  if (i < count_ && at(i).isInt()) dimensions = {at(i).toInt()};
  if (i < count_ && at(i).isIntList()) dimensions = at(i).toIntVector();
  if (dimensions.empty()) return std::vector<bool>(rank, true);
  for (const int64_t d : dimensions)
    if (rank > 0) out[wrapped(d, rank)] = true;
  return out;
}

bool AtenCall::is_symbolic() const {
  for (size_t i = 0; i < count_; ++i)
    if (symbolic(at(i))) return true;
  return false;
}

bool AtenCall::returns(std::vector<at::Tensor> results) {
  stack_->resize(stack_->size() - count_);
  for (at::Tensor& result : results) stack_->emplace_back(std::move(result));
  return true;
}

bool AtenCall::returns_dense(SymSizes sizes, at::ScalarType dtype) {
  return returns({SymbolicTensor::make_dense(std::move(sizes), dtype)});
}

bool AtenCall::returns_list(const std::vector<at::Tensor>& results) {
  stack_->resize(stack_->size() - count_);
  stack_->emplace_back(c10::List<at::Tensor>(results));
  return true;
}

SymSizes broadcast(const SymSizes& a, const SymSizes& b) {
  SymSizes out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const c10::SymInt from_a = i < a.size() ? a[a.size() - 1 - i] : c10::SymInt(1);
    const c10::SymInt from_b = i < b.size() ? b[b.size() - 1 - i] : c10::SymInt(1);
    out[out.size() - 1 - i] = broadcast_size(from_a, from_b);
  }
  return out;
}

int64_t wrapped(int64_t dimension, int64_t rank) { return c10::maybe_wrap_dim(dimension, rank); }

}  // namespace aotifuzz
