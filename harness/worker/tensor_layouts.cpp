#include "worker/tensor_layouts.h"

namespace aotifuzz {

void TensorLayouts::note(const KernelCall& call) {
  // (tensor, address of the pointer that it fills in)
  const auto* tensor = reinterpret_cast<const at::Tensor*>(call.integers[0]);
  const auto* pointer = reinterpret_cast<void* const*>(call.integers[1]);
  if (!tensor || !pointer || !tensor->defined() || !*pointer || tensor->is_mkldnn()) return;
  layouts_[*pointer] = {tensor->scalar_type(), tensor->sizes().vec(), tensor->strides().vec(), tensor->device()};
}

const TensorLayouts::Layout* TensorLayouts::find(const void* pointer) const {
  const auto found = layouts_.find(pointer);
  return found == layouts_.end() ? nullptr : &found->second;
}

}  // namespace aotifuzz
