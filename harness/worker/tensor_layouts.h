#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <unordered_map>
#include <vector>

#include "worker/kernel_calls.h"

namespace aotifuzz {

/// Generated code asks for the data pointer of each tensor right before it hands it to a kernel, so a pointer's tensor
/// is known without anything but the package. KernelCalls::watch_data_pointers() must have been called before the
/// package was loaded.
class TensorLayouts {
 public:
  struct Layout {
    c10::ScalarType dtype = c10::ScalarType::Undefined;
    std::vector<int64_t> sizes, strides;
    c10::Device device = c10::kCPU;
  };
  static bool is_data_pointer_call(const KernelCall& call) { return call.name == "aoti_torch_get_data_ptr"; }

  void clear() { layouts_.clear(); }
  /// After such a call has returned.
  void note(const KernelCall& call);
  /// nullptr: nobody asked for this pointer.
  const Layout* find(const void* pointer) const;

 private:
  std::unordered_map<const void*, Layout> layouts_;
};

}  // namespace aotifuzz
