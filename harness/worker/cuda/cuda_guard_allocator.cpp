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

CudaGuardAllocator& CudaGuardAllocator::install(int device, FlightRecorder* recorder) {
  // Never destroyed: tensors outlive every order of destruction.
  static CudaGuardAllocator* once = [device, recorder] {
    auto* made = new CudaGuardAllocator(device, recorder);
    namespace pluggable = torch::cuda::CUDAPluggableAllocator;
    pluggable::changeCurrentAllocator(pluggable::createCustomAllocator(
        [made](size_t bytes, int, cudaStream_t stream) { return made->allocate(bytes, stream); },
        [made](void* block, size_t, int, cudaStream_t stream) { made->free(block, stream); }));
    return made;
  }();
  return *once;
}

CudaGuardAllocator::CudaGuardAllocator(int device, FlightRecorder* recorder) : maker_(device), table_(recorder) {
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
  const size_t slack = run_.at_start ? 0 : slack_of(bytes);
  Block block;
  block.slot = take_slot(bytes + slack, stream);
  block.bytes = bytes;
  block.run = run_number_;
  block.pattern = run_.poison;
  block.has_canary = slack != 0;
  const CUdeviceptr start = run_.at_start ? block.slot.start : block.slot.end() - bytes - slack;
  fill(block.slot, start, bytes + slack, stream);
  block.serial = table_.allocated(block.slot.entry, start, bytes);
  void* address = reinterpret_cast<void*>(start);
  live_[address] = block;
  return address;
}

void CudaGuardAllocator::fill(CudaSlot& slot, CUdeviceptr start, size_t bytes, CUstream stream) {
  const bool ahead = slot.pattern == run_.poison && slot.filled >= slot.end() - start;
  // An error of an earlier kernel may surface here: whoever waits for the device hears of it again.
  if (!ahead) CudaDriver::get().memset8(start, run_.poison, bytes, stream);
  slot.filled = 0;
}

CudaSlot CudaGuardAllocator::take_slot(size_t bytes, CUstream stream) {
  const size_t wanted = maker_.slot_bytes(bytes);
  const size_t filled = run_.at_start || bytes > kFilledAhead ? 0 : bytes;
  CudaSlot slot;
  const bool pooled =
      take_pooled(wanted, filled, &slot) || (bytes_held_ + wanted > kFreshSlotsMax && take_pooled(wanted, 0, &slot));
  if (!pooled) slot = make_slot(wanted);
  if (slot.start == 0 && !take_pooled(wanted, 0, &slot)) {
    CudaDriver::get().synchronize();
    trim(0);
    slot = make_slot(wanted);
  }
  TORCH_CHECK_WITH(OutOfMemoryError, slot.start != 0, "CUDA out of memory: no room for ", bytes, " bytes beside ",
                   bytes_held_);
  // What another stream may still be doing with it is not ordered with what comes.
  if (pooled && slot.stream != stream) CudaDriver::get().synchronize();
  slot.stream = stream;
  return slot;
}

CudaSlot CudaGuardAllocator::make_slot(size_t slot_bytes) {
  if (bytes_max_ != 0 && bytes_held_ + slot_bytes > bytes_max_) return {};
  CudaSlot slot = maker_.make(slot_bytes);
  if (slot.start != 0) slot.entry = table_.add();
  bytes_held_ += slot.bytes;
  return slot;
}

/// The last of its size, if `filled` bytes of it hold the run's pattern.
bool CudaGuardAllocator::take_pooled(size_t slot_bytes, size_t filled, CudaSlot* slot) {
  const auto it = pool_.find(slot_bytes);
  if (it == pool_.end() || it->second.empty()) return false;
  const CudaSlot& last = it->second.back();
  if (filled > 0 && (last.pattern != run_.poison || last.filled < filled)) return false;
  *slot = last;
  it->second.pop_back();
  pool_bytes_ -= slot->bytes;
  return true;
}

void CudaGuardAllocator::free(void* address, CUstream stream) {
  if (!address) return;
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(address);
  AOTIFUZZ_CHECK(it != live_.end()) << "freed what was never allocated";
  const Block block = it->second;
  live_.erase(it);
  table_.freed(block.slot.entry);
  if (block.read_only) {
    CudaDriver::get().synchronize();
    return destroy(block.slot);
  }
  if (run_.canaries && block.has_canary && block.run == run_number_) queue_check(block, stream);
  if (!run_.protect_freed) return release(block.slot);
  CudaDriver::get().synchronize();
  maker_.close(block.slot);
  closed_.push_back(block.slot);
}

void CudaGuardAllocator::release(CudaSlot slot) {
  slot.filled = 0;
  std::vector<CudaSlot>& slots = pool_[slot.bytes];
  slots.insert(slots.begin(), slot);
  pool_bytes_ += slot.bytes;
}

void CudaGuardAllocator::destroy(const CudaSlot& slot) {
  bytes_held_ -= slot.bytes;
  table_.remove(slot.entry);
  maker_.destroy(slot);
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
    destroy(slot);
  }
}

void CudaGuardAllocator::queue_check(const Block& block, CUstream stream) {
  if (checks_.size() == kChecksMax) return;
  uint8_t* to = copies_ + checks_.size() * kAlignment;
  CudaDriver::get().copy_to_host(to, block.slot.end() - kAlignment, kAlignment, stream);
  checks_.push_back({block.slot.entry, block.serial, block.bytes, block.pattern});
}

void CudaGuardAllocator::begin_run(const DeviceRun& run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  ++run_number_;
  table_.begin_run();
  checks_.clear();
  for (auto& [bytes, slots] : pool_) {
    for (CudaSlot& slot : slots) {
      if (slot.filled >= kFilledAhead && slot.pattern == run.poison) continue;
      if (!fill_.add(slot.end() - kFilledAhead, kFilledAhead)) break;
      slot.filled = kFilledAhead;
      slot.pattern = run.poison;
      slot.stream = nullptr;
    }
  }
  fill_.launch(run.poison);
}

void CudaGuardAllocator::queue_checks() {
  const std::lock_guard lock(mutex_);
  if (!run_.canaries) return;
  for (const auto& [address, block] : live_)
    if (block.has_canary && block.run == run_number_) queue_check(block, block.slot.stream);
}

size_t CudaGuardAllocator::bytes_readable(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  const auto within = [at](const Block& block) { return at >= block.slot.start && at < block.slot.end(); };
  auto block = live_.find(const_cast<void*>(address));
  if (block == live_.end())
    block = std::find_if(live_.begin(), live_.end(), [&](const auto& entry) { return within(entry.second); });
  return block == live_.end() ? 0 : block->second.slot.end() - at;
}

void CudaGuardAllocator::label(const void* address, BufferRole role, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto it = live_.find(const_cast<void*>(address)); it != live_.end())
    table_.label(it->second.slot.entry, role, name);
}

bool CudaGuardAllocator::make_read_only(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(const_cast<void*>(address));
  if (it == live_.end()) return false;
  CudaDriver::get().synchronize();  // what fills it may still be under way
  it->second.read_only = maker_.make_read_only(it->second.slot);
  return it->second.read_only;
}

std::optional<std::string> CudaGuardAllocator::end_run() {
  const std::lock_guard lock(mutex_);
  for (const CudaSlot& slot : closed_) {
    if (maker_.open(slot))
      release(slot);
    else
      destroy(slot);
  }
  closed_.clear();
  run_.protect_freed = false;
  trim(pool_max_);
  std::optional<std::string> damage;
  for (size_t i = 0; i < checks_.size() && !damage; ++i) {
    const uint8_t* copy = copies_ + i * kAlignment;
    const size_t slack = slack_of(checks_[i].bytes);
    for (size_t k = kAlignment - slack; k < kAlignment && !damage; ++k)
      if (copy[k] != checks_[i].pattern) {
        const size_t distance = k - (kAlignment - slack);
        damage = std::to_string(distance) + " bytes past the end of a block of " + std::to_string(checks_[i].bytes) +
                 " bytes";
        table_.damaged(checks_[i].entry, checks_[i].serial, checks_[i].bytes, distance);
      }
  }
  checks_.clear();
  run_.canaries = false;
  return damage;
}

}  // namespace aotifuzz
