#include "worker/guarded_constants.h"

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_runner/model_container_runner.h>

#include "worker/device_runtime.h"
#include "worker/guard_allocator.h"

namespace aotifuzz {
namespace {

bool can_move(const at::Tensor& constant, c10::Device device) {
  return constant.defined() && constant.layout() == at::kStrided && constant.device() == device &&
         constant.has_storage() && constant.numel() > 0 && constant.is_non_overlapping_and_dense();
}

}  // namespace

GuardedConstants::GuardedConstants(torch::inductor::AOTIModelContainerRunner& runner, const Writable& writable,
                                   DeviceRuntime* runtime, bool guarded) {
  const c10::Device device = runtime ? runtime->device() : c10::Device(c10::kCPU);
  GuardAllocator* guard = runtime ? nullptr : GuardAllocator::installed();
  const std::unordered_map<std::string, at::Tensor> constants = runner.extract_constants_map(/*use_inactive=*/false);
  size_t bytes = 0;
  for (const auto& [fqn, constant] : constants)
    if (can_move(constant, device)) bytes += constant.nbytes();
  const bool moves = runtime ? guarded && bytes <= kDeviceBytesMax : guard && bytes <= kBytesMax;
  for (const auto& [name, fqn] : runner.getConstantNamesToOriginalFQNs()) {
    const auto constant = constants.find(fqn);
    if (constant == constants.end() || (constant->second.defined() && constant->second.numel() == 0)) continue;
    if (!moves || !can_move(constant->second, device)) {
      ++left_;
      continue;
    }
    at::Tensor& tensor = tensors_[fqn];
    if (!tensor.defined())
      tensor = at::empty_strided(constant->second.sizes(), constant->second.strides(), constant->second.options());
    tensor.copy_(constant->second);
    fqn_of_.emplace(name, fqn);
  }
  if (fqn_of_.empty()) return;
  put_back(runner);
  for (const auto& [fqn, tensor] : tensors_) {
    const void* const block = tensor.const_data_ptr();
    const bool writes = writable.none_read_only || writable.fqns.contains(fqn);
    if (runtime) {
      runtime->label(block, BufferRole::kConstant, fqn);
      if (!writes && runtime->make_read_only(block)) read_only_.insert(fqn);
    } else {
      guard->label(block, BufferRole::kConstant, fqn);
      if (writes) continue;
      guard->make_read_only(block);
      read_only_.insert(fqn);
    }
  }
}

void GuardedConstants::put_back(torch::inductor::AOTIModelContainerRunner& runner) {
  if (fqn_of_.empty()) return;
  torch::inductor::TensorConstantMap by_name;
  for (const auto& [name, fqn] : fqn_of_) by_name.emplace(name, &tensors_.at(fqn));
  runner.update_constant_buffer(by_name, /*use_inactive=*/false, /*validate_full_updates=*/false,
                                /*user_managed=*/true);
}

bool GuardedConstants::reset(const std::string& fqn, const at::Tensor& value) {
  const auto constant = tensors_.find(fqn);
  if (constant == tensors_.end()) return false;
  if (!read_only_.contains(fqn)) constant->second.copy_(value);
  return true;
}

}  // namespace aotifuzz
