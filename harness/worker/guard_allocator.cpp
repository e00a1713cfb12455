#include "worker/guard_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/check.h"

namespace aotifuzz {
namespace {

GuardAllocator* installed = nullptr;

/// c10 keeps the allocator with the highest priority; its own have 0.
constexpr uint8_t kPriority = 100;
/// What is filled of a large block's either end.
constexpr size_t kPoisonEnd = size_t{64} << 10;
constexpr size_t kPoisonLine = 64;

}  // namespace

GuardAllocator& GuardAllocator::install() {
  if (!installed) {
    installed = new GuardAllocator();  // lives as long as the process: tensors may be freed during its last moments
    c10::SetCPUAllocator(installed, kPriority);
  }
  return *installed;
}

c10::DataPtr GuardAllocator::allocate(size_t bytes) {
  if (bytes == 0) return {nullptr, nullptr, &free_block, c10::Device(c10::kCPU)};
  if (bytes > PTRDIFF_MAX - kPage) throw std::bad_alloc();
  const size_t alignment = alignment_.load(std::memory_order_relaxed);
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  const size_t pages = (rounded + kPage - 1) / kPage;
  char* block = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Slot slot{nullptr, pages};
    std::vector<char*>& free_slots = pool_[pages];
    if (!free_slots.empty()) {
      slot.base = free_slots.back();
      free_slots.pop_back();
      pool_bytes_ -= pages * kPage;
    } else {
      slot.base = map_slot(pages);
    }
    if (slot.base) {
      block = slot.base + pages * kPage - rounded;
    } else {
      block = static_cast<char*>(std::malloc(bytes));
      if (!block) throw std::bad_alloc();
      slot.pages = 0;
      unguarded_.fetch_add(1, std::memory_order_relaxed);
    }
    live_[block] = slot;
  }
  poison(block, bytes);
  return {block, block, &free_block, c10::Device(c10::kCPU)};
}

char* GuardAllocator::map_slot(size_t pages) {
  if (slots_ >= kSlotsMax) return nullptr;
  void* base = mmap(nullptr, (pages + 1) * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  char* start = static_cast<char*>(base);
  if (mprotect(start + pages * kPage, kPage, PROT_NONE) != 0) {
    munmap(base, (pages + 1) * kPage);
    return nullptr;
  }
  ++slots_;
  return start;
}

void GuardAllocator::unmap_slot(const Slot& slot) {
  munmap(slot.base, (slot.pages + 1) * kPage);
  --slots_;
}

void GuardAllocator::free_block(void* block) {
  if (!block) return;
  GuardAllocator& self = *installed;
  std::lock_guard<std::mutex> lock(self.mutex_);
  const auto it = self.live_.find(block);
  AOTIFUZZ_CHECK(it != self.live_.end()) << "freed a block that is not live: " << block;
  const Slot slot = it->second;
  self.live_.erase(it);
  if (slot.pages == 0) {
    std::free(block);
  } else if (self.pool_bytes_ + slot.pages * kPage > kPoolBytesMax) {
    self.unmap_slot(slot);
  } else {
    self.pool_[slot.pages].push_back(slot.base);
    self.pool_bytes_ += slot.pages * kPage;
  }
}

void GuardAllocator::poison(char* block, size_t bytes) const {
  const int pattern = poison_.load(std::memory_order_relaxed);
  if (bytes <= kPoisonWhole) {
    std::memset(block, pattern, bytes);
    return;
  }
  std::memset(block, pattern, kPoisonEnd);
  std::memset(block + bytes - kPoisonEnd, pattern, kPoisonEnd);
  for (size_t at = kPoisonEnd; at + kPoisonLine < bytes - kPoisonEnd; at += kPage)
    std::memset(block + at, pattern, kPoisonLine);
}

}  // namespace aotifuzz
