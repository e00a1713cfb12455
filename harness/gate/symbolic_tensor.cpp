#include "gate/symbolic_tensor.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/WrapDimMinimal.h>

#include <utility>

#include "gate/symbolic_run.h"

namespace aotifuzz {

SymbolicTensor::SymbolicTensor(c10::Storage&& storage, c10::DispatchKeySet keys, caffe2::TypeMeta dtype,
                               c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides, c10::SymInt offset,
                               std::string label)
    : TensorImpl(std::move(storage), keys, dtype), label_(std::move(label)) {
  set_sizes_and_strides(sizes, strides, std::move(offset));
}

at::Tensor SymbolicTensor::make(std::vector<c10::SymInt> sizes, std::vector<c10::SymInt> strides, c10::SymInt offset,
                                at::ScalarType dtype, std::string label) {
  SymbolicRun::Pause pause;  // computing the storage's bytes asks for numbers
  const at::Tensor base = at::detail::empty_strided_symint_meta(sizes, strides, dtype);
  c10::Storage storage = base.storage();
  return at::detail::make_tensor<SymbolicTensor>(std::move(storage), base.key_set(), base.dtype(), sizes, strides,
                                                 std::move(offset), std::move(label));
}

at::Tensor SymbolicTensor::make_dense(std::vector<c10::SymInt> sizes, at::ScalarType dtype) {
  std::vector<c10::SymInt> strides = dense_strides(sizes);
  return make(std::move(sizes), std::move(strides), 0, dtype);
}

at::Tensor SymbolicTensor::listening(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides() ||
      dynamic_cast<const SymbolicTensor*>(tensor.unsafeGetTensorImpl()))
    return tensor;
  SymbolicRun::Pause pause;
  c10::Storage storage = tensor.storage();
  return at::detail::make_tensor<SymbolicTensor>(std::move(storage), tensor.key_set(), tensor.dtype(),
                                                 tensor.sym_sizes(), tensor.sym_strides(), tensor.sym_storage_offset(),
                                                 "");
}

std::vector<c10::SymInt> SymbolicTensor::dense_strides(const std::vector<c10::SymInt>& sizes) {
  std::vector<c10::SymInt> strides(sizes.size());
  c10::SymInt next = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = next;
    next = next * sizes[i].max(1);
  }
  return strides;
}

int64_t SymbolicTensor::ask(const c10::SymInt& size, const std::string& call) const {
  if (const auto number = size.maybe_as_int()) return *number;
  return SymbolicRun::note(SizeEvent::Kind::kNumber, SizeExpr::of(size),
                           (label_.empty() ? "an intermediate tensor's " : label_ + ".") + call);
}

c10::IntArrayRef SymbolicTensor::ask_all(c10::SymIntArrayRef sizes, const std::string& call,
                                         std::vector<int64_t>* out) const {
  out->clear();
  for (const c10::SymInt& size : sizes) out->push_back(ask(size, call));
  return *out;
}

c10::IntArrayRef SymbolicTensor::sizes_custom() const {
  return ask_all(sym_sizes_default(), "sizes()", &sizes_numbers_);
}

int64_t SymbolicTensor::size_custom(int64_t dimension) const {
  dimension = c10::maybe_wrap_dim(dimension, dim(), /*wrap_scalar=*/false);
  return ask(sym_sizes_default()[dimension], "size(" + std::to_string(dimension) + ")");
}

c10::IntArrayRef SymbolicTensor::strides_custom() const {
  return ask_all(sym_strides_default(), "strides()", &strides_numbers_);
}

int64_t SymbolicTensor::numel_custom() const { return ask(sym_numel_default(), "numel()"); }

int64_t SymbolicTensor::storage_offset_custom() const { return ask(sym_storage_offset_default(), "storage_offset()"); }

c10::intrusive_ptr<c10::TensorImpl> SymbolicTensor::shallow_copy_and_detach(const c10::VariableVersion&, bool) const {
  c10::Storage same = storage();
  return c10::make_intrusive<SymbolicTensor>(std::move(same), key_set(), dtype(), sym_sizes_default(),
                                             sym_strides_default(), sym_storage_offset_default(), label_);
}

c10::intrusive_ptr<c10::TensorImpl> SymbolicTensor::shallow_copy_and_detach(c10::VariableVersion&& version,
                                                                            bool allow_change) const {
  return shallow_copy_and_detach(std::as_const(version), allow_change);
}

}  // namespace aotifuzz
