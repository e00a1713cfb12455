#include "gate/kernel_memory.h"

#include <ATen/ATen.h>

namespace aotifuzz {

void KernelMemory::begin_run(const Run& run) {
  host_.begin_run(
      {.stage = Stage::kSubject, .poison = run.poison, .at_start = run.at_start, .freed = FreedMemory::kFilled});
  if (!device_) return;
  DeviceRun on_device;
  on_device.poison = run.poison;
  on_device.at_start = run.at_start;
  on_device.canaries = run.judged && !run.at_start;
  device_->begin_run(on_device);
}

void KernelMemory::label_inputs(const std::vector<at::Tensor>& inputs, const std::vector<std::string>& names) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || !inputs[i].has_storage() || inputs[i].storage().nbytes() == 0) continue;
    const void* start = inputs[i].storage().data();
    if (device_)
      device_->label(start, BufferRole::kInput, names[i]);
    else
      host_.label(start, BufferRole::kInput, names[i]);
  }
}

std::vector<MemoryFault> KernelMemory::end_run() {
  if (device_) device_->end_run();
  return host_.end_run();
}

bool KernelMemory::is_readable(const at::Tensor& tensor) const {
  return tensor.defined() && tensor.layout() == at::kStrided &&
         (tensor.device().is_cpu() || tensor.device() == device());
}

std::vector<char> KernelMemory::storage_bytes(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.has_storage() || tensor.storage().nbytes() == 0) return {};
  const char* begin = static_cast<const char*>(tensor.storage().data());
  const size_t bytes = tensor.storage().nbytes();
  if (!device_ || tensor.device().is_cpu()) return {begin, begin + bytes};
  std::vector<char> out(bytes);
  const DeviceRuntime::Fetch whole{.from = begin, .to = out.data(), .bytes = bytes};
  device_->fetch({&whole, 1});
  return out;
}

std::vector<char> KernelMemory::element_bytes(const at::Tensor& tensor) const {
  const at::Tensor dense = tensor.cpu().contiguous();
  const char* begin = static_cast<const char*>(dense.const_data_ptr());
  return {begin, begin + dense.nbytes()};
}

}  // namespace aotifuzz
