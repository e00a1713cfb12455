#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include <string>
#include <vector>

#include "gate/size_expr.h"

namespace aotifuzz {

/// A tensor on the Meta device whose sizes are expressions and whose accessors for plain numbers (size(), sizes(),
/// numel(), strides()...) answer with the value of this run and note that they were asked. torch's own tensors with
/// symbolic sizes ask the Python interpreter there, which we do not have.
class SymbolicTensor final : public c10::TensorImpl {
 public:
  /// `label`: what reports call it, "x"; "" = an intermediate.
  static at::Tensor make(std::vector<c10::SymInt> sizes, std::vector<c10::SymInt> strides, c10::SymInt offset,
                         at::ScalarType dtype, std::string label = "");
  /// Dense, in the order of the sizes.
  static at::Tensor make_dense(std::vector<c10::SymInt> sizes, at::ScalarType dtype);
  /// The same storage and sizes as a tensor that notes; `tensor` itself when it does already or has plain sizes.
  static at::Tensor listening(const at::Tensor& tensor);
  static std::vector<c10::SymInt> dense_strides(const std::vector<c10::SymInt>& sizes);

  SymbolicTensor(c10::Storage&& storage, c10::DispatchKeySet keys, caffe2::TypeMeta dtype, c10::SymIntArrayRef sizes,
                 c10::SymIntArrayRef strides, c10::SymInt offset, std::string label);

  c10::IntArrayRef sizes_custom() const override;
  int64_t size_custom(int64_t dimension) const override;
  c10::IntArrayRef strides_custom() const override;
  int64_t numel_custom() const override;
  int64_t storage_offset_custom() const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(const c10::VariableVersion& version,
                                                         bool allow_change) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(c10::VariableVersion&& version,
                                                         bool allow_change) const override;

 private:
  int64_t ask(const c10::SymInt& size, const std::string& call) const;
  c10::IntArrayRef ask_all(c10::SymIntArrayRef sizes, const std::string& call, std::vector<int64_t>* out) const;

  std::string label_;
  mutable std::vector<int64_t> sizes_numbers_, strides_numbers_;  ///< what the references handed out point to
};

}  // namespace aotifuzz
