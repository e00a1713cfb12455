#include "worker/cuda/cuda_guard_allocator.h"

#include <c10/util/Exception.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include <algorithm>

#include "core/check.h"
#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

constexpr size_t kAlignment = 16;
/// Checks of one run; further blocks go unchecked in it.
constexpr size_t kChecksMax = 8192;
constexpr size_t kPoolShare = 16;

size_t slack_of(size_t bytes) { return (kAlignment - bytes % kAlignment) % kAlignment; }

}  // namespace

CudaGuardAllocator& CudaGuardAllocator::install(int device) {
  // Never destroyed: tensors outlive every order of destruction.
  static CudaGuardAllocator* once = [device] {
    auto* made = new CudaGuardAllocator(device);
    namespace pluggable = torch::cuda::CUDAPluggableAllocator;
    pluggable::changeCurrentAllocator(pluggable::createCustomAllocator(
        [made](size_t bytes, int, cudaStream_t stream) { return made->allocate(bytes, stream); },
        [made](void* block, size_t, int, cudaStream_t stream) { made->free(block, stream); }));
    return made;
  }();
  return *once;
}

CudaGuardAllocator::CudaGuardAllocator(int device) : maker_(device) {
  const CudaDriver& driver = CudaDriver::get();
  size_t free_bytes = 0, all_bytes = 0;
  CUresult code = driver.memory_info(&free_bytes, &all_bytes);
  AOTIFUZZ_CHECK(code == CUDA_SUCCESS) << driver.error_text(code);
  pool_max_ = all_bytes / kPoolShare;
  code = driver.host_alloc(reinterpret_cast<void**>(&copies_), kChecksMax * kAlignment, 0);
  AOTIFUZZ_CHECK(code == CUDA_SUCCESS) << driver.error_text(code);
}

void* CudaGuardAllocator::allocate(size_t bytes, CUstream stream) {
  if (bytes == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  Block block;
  block.slot = take_slot(bytes, stream);
  block.bytes = bytes;
  block.run = run_number_;
  block.pattern = run_.poison;
  block.has_canary = !run_.at_start && slack_of(bytes) != 0;
  const size_t slack = run_.at_start ? 0 : slack_of(bytes);
  const CUdeviceptr start = run_.at_start ? block.slot.start : block.slot.end() - bytes - slack;
  // An error of an earlier kernel may surface here: whoever waits for the device hears of it again.
  CudaDriver::get().memset8(start, run_.poison, bytes + slack, stream);
  void* address = reinterpret_cast<void*>(start);
  live_[address] = block;
  return address;
}

CudaSlot CudaGuardAllocator::take_slot(size_t bytes, CUstream stream) {
  const size_t wanted = maker_.slot_bytes(bytes);
  if (const auto it = pool_.find(wanted); it != pool_.end() && !it->second.empty()) {
    CudaSlot slot = it->second.back();
    it->second.pop_back();
    pool_bytes_ -= slot.bytes;
    // What another stream may still be doing with it is not ordered with what comes.
    if (slot.stream != stream) CudaDriver::get().synchronize();
    slot.stream = stream;
    return slot;
  }
  CudaSlot slot;
  for (const bool last_try : {false, true}) {
    if (last_try) {
      CudaDriver::get().synchronize();
      trim(0);
    }
    if (bytes_max_ != 0 && bytes_held_ + wanted > bytes_max_) continue;
    slot = maker_.make(wanted);
    if (slot.start != 0) break;
  }
  TORCH_CHECK_WITH(OutOfMemoryError, slot.start != 0, "CUDA out of memory: no room for ", bytes, " bytes beside ",
                   bytes_held_);
  bytes_held_ += slot.bytes;
  slot.stream = stream;
  return slot;
}

void CudaGuardAllocator::free(void* address, CUstream stream) {
  if (!address) return;
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(address);
  AOTIFUZZ_CHECK(it != live_.end()) << "freed what was never allocated";
  const Block block = it->second;
  live_.erase(it);
  if (run_.canaries && block.has_canary && block.run == run_number_) queue_check(block, stream);
  if (!run_.protect_freed) return release(block.slot);
  CudaDriver::get().synchronize();
  maker_.close(block.slot);
  closed_.push_back(block.slot);
}

void CudaGuardAllocator::release(const CudaSlot& slot) {
  pool_[slot.bytes].push_back(slot);
  pool_bytes_ += slot.bytes;
}

/// Largest first: they free most, and come again least.
void CudaGuardAllocator::trim(size_t bytes_kept) {
  while (pool_bytes_ > bytes_kept && !pool_.empty()) {
    const auto largest = std::prev(pool_.end());
    if (largest->second.empty()) {
      pool_.erase(largest);
      continue;
    }
    const CudaSlot slot = largest->second.back();
    largest->second.pop_back();
    pool_bytes_ -= slot.bytes;
    bytes_held_ -= slot.bytes;
    maker_.destroy(slot);
  }
}

void CudaGuardAllocator::queue_check(const Block& block, CUstream stream) {
  if (checks_.size() == kChecksMax) return;
  uint8_t* to = copies_ + checks_.size() * kAlignment;
  CudaDriver::get().copy_to_host(to, block.slot.end() - kAlignment, kAlignment, stream);
  checks_.push_back({block.bytes, block.pattern});
}

void CudaGuardAllocator::begin_run(const DeviceRun& run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  ++run_number_;
  checks_.clear();
}

void CudaGuardAllocator::queue_checks() {
  const std::lock_guard lock(mutex_);
  if (!run_.canaries) return;
  for (const auto& [address, block] : live_)
    if (block.has_canary && block.run == run_number_) queue_check(block, block.slot.stream);
}

std::optional<std::string> CudaGuardAllocator::end_run() {
  const std::lock_guard lock(mutex_);
  for (const CudaSlot& slot : closed_) {
    if (maker_.open(slot)) {
      release(slot);
    } else {
      bytes_held_ -= slot.bytes;
      maker_.destroy(slot);
    }
  }
  closed_.clear();
  run_.protect_freed = false;
  trim(pool_max_);
  std::optional<std::string> damage;
  for (size_t i = 0; i < checks_.size() && !damage; ++i) {
    const uint8_t* copy = copies_ + i * kAlignment;
    const size_t slack = slack_of(checks_[i].bytes);
    for (size_t k = kAlignment - slack; k < kAlignment && !damage; ++k)
      if (copy[k] != checks_[i].pattern)
        damage = std::to_string(k - (kAlignment - slack)) + " bytes past the end of a block of " +
                 std::to_string(checks_[i].bytes) + " bytes";
  }
  checks_.clear();
  run_.canaries = false;
  return damage;
}

}  // namespace aotifuzz
