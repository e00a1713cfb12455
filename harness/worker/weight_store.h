#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "package/graph.h"

namespace aotifuzz {

/// Parameters, buffers and tensor constants of a program, read from its archive into memory of c10's allocators: what
/// the export had on CUDA goes to the device that is given. Weights that share an archive member share a storage, as
/// they did in the model.
class WeightStore {
 public:
  /// Throws HarnessError when a member is missing or too short for its metadata.
  WeightStore(const Program& program, const std::string& archive, c10::Device device = c10::kCPU);

  /// Undefined tensor when there is none of that name.
  at::Tensor find(const std::string& fqn) const;
  /// The same in float64 / complex128 where it is floating or complex; made at the first call and kept.
  at::Tensor find_wide(const std::string& fqn);
  /// find() and find_wide() give these in place of what the archive holds; empty: what it holds.
  void replace(std::map<std::string, at::Tensor> values);
  /// Weights that cannot be read: "weight x: saved with pickle".
  const std::vector<std::string>& unsupported() const { return unsupported_; }

  bool owns_storage(const void* data) const { return storages_.contains(data); }

 private:
  std::map<std::string, at::Tensor> weights_;
  std::map<std::string, at::Tensor> wide_;
  std::map<std::string, at::Tensor> replaced_, replaced_wide_;
  std::map<const void*, at::Tensor> storages_;  ///< by address: one tensor of each storage
  std::vector<std::string> unsupported_;
};

/// float64 for real floating types, complex128 for complex ones, otherwise the type itself.
c10::ScalarType wide_type(c10::ScalarType type);

/// Copies of `tensors` in their wide types with the same sizes, strides and offsets; tensors that shared a storage (and
/// a dtype) share one again. Tensors that need no widening are returned as they are. Undefined stays undefined.
std::vector<at::Tensor> widened(const std::vector<at::Tensor>& tensors);

}  // namespace aotifuzz
