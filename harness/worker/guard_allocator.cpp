#include "worker/guard_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "core/check.h"

namespace aotifuzz {
namespace {

GuardAllocator* the_allocator = nullptr;

/// c10 keeps the allocator with the highest priority; its own have 0.
constexpr uint8_t kPriority = 100;
/// Far more than the tensors of one process: slots are never moved, so sizes that come once leave holes.
constexpr size_t kArenaBytes = size_t{8} << 40;
/// What is filled of a large block's either end.
constexpr size_t kPoisonEnd = size_t{64} << 10;
constexpr size_t kPoisonLine = 64;
/// No poison pattern of a run has this value.
constexpr int kCanary = 0xCB;
/// Inaccessible slots above this size give their memory back to the system.
constexpr size_t kKeepContentsMax = size_t{1} << 20;
/// What is farther from a buffer than this has nothing to do with it, unless the kernel was given the buffer.
constexpr uint64_t kNearMax = uint64_t{1} << 30;
/// How much of a freed block is filled and looked at again.
constexpr size_t kFilledMax = size_t{64} << 10;

constexpr size_t kSmallClasses = 8;  ///< one for each number of pages
constexpr size_t kStepsPerDoubling = 4;
constexpr size_t kClasses = kSmallClasses + kStepsPerDoubling * 48;

/// Class of a number of pages, and how many pages a slot of that class has.
struct SizeClass {
  explicit SizeClass(size_t wanted) {
    if (wanted <= kSmallClasses) {
      index = static_cast<int>(wanted - 1);
      pages = wanted;
      return;
    }
    const size_t exponent = std::bit_width(wanted - 1) - 1;
    const size_t step = size_t{1} << (exponent - 2);
    const size_t steps = (wanted + step - 1) / step;
    index = static_cast<int>(kSmallClasses + (exponent - 3) * kStepsPerDoubling + steps - kStepsPerDoubling - 1);
    pages = steps * step;
  }
  int index;
  size_t pages;
};

struct CanaryBytes {
  CanaryBytes() { std::memset(bytes, kCanary, sizeof(bytes)); }
  char bytes[GuardAllocator::kCanaryBytes];
};
const CanaryBytes canary;

size_t canary_before(const char* block, const GuardArena::Slot& room) {
  return std::min<size_t>(block - room.base, GuardAllocator::kCanaryBytes);
}
size_t canary_after(const char* end, const GuardArena::Slot& room) {
  return std::min<size_t>(room.end() - end, GuardAllocator::kCanaryBytes);
}

void poison(char* block, size_t bytes, int pattern) {
  if (bytes <= GuardAllocator::kPoisonWhole) {
    std::memset(block, pattern, bytes);
    return;
  }
  std::memset(block, pattern, kPoisonEnd);
  std::memset(block + bytes - kPoisonEnd, pattern, kPoisonEnd);
  for (size_t at = kPoisonEnd; at + kPoisonLine < bytes - kPoisonEnd; at += GuardAllocator::kPage)
    std::memset(block + at, pattern, kPoisonLine);
}

FlightRecorder* private_recorder() {
  void* memory =
      mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  AOTIFUZZ_CHECK(memory != MAP_FAILED) << "no memory for the allocation table";
  return new (memory) FlightRecorder;
}

}  // namespace

GuardAllocator::GuardAllocator(FlightRecorder* recorder)
    : arena_(kArenaBytes), recorder_(recorder ? recorder : private_recorder()), pool_(kClasses), cold_(kClasses) {
  slots_.reserve(kSlotsMax);  // never moved: the signal handler reads them
}

GuardAllocator& GuardAllocator::install(FlightRecorder* recorder) {
  if (!the_allocator) {
    // Lives as long as the process: tensors may be freed during its last moments.
    the_allocator = new GuardAllocator(recorder);
    c10::SetCPUAllocator(the_allocator, kPriority);
  }
  return *the_allocator;
}

GuardAllocator* GuardAllocator::installed() { return the_allocator; }

c10::DataPtr GuardAllocator::allocate(size_t bytes) {
  if (bytes == 0) return {nullptr, nullptr, &free_block, c10::Device(c10::kCPU)};
  if (bytes > PTRDIFF_MAX / 2) throw std::bad_alloc();
  const size_t rounded = (bytes + alignment_ - 1) / alignment_ * alignment_;
  char* block = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const int index = take_slot(rounded);
    if (index >= 0) {
      const GuardArena::Slot& room = arena_.slot(index);
      Slot& slot = slots_[index];
      slot.block = block = run_.at_start ? room.base : room.end() - rounded;
      slot.bytes = bytes;
      slot.run = run_number_;
      live_bytes_ += bytes;
      record(index);
      fill(slot, room);
    }
  }
  if (!block) {
    block = static_cast<char*>(std::malloc(bytes));
    if (!block) throw std::bad_alloc();
    unguarded_.fetch_add(1, std::memory_order_relaxed);
    poison(block, bytes, run_.poison);
  }
  return {block, block, &free_block, c10::Device(c10::kCPU)};
}

size_t GuardAllocator::live_bytes() {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_bytes_;
}

int GuardAllocator::take_slot(size_t bytes) {
  const SizeClass wanted((bytes + kPage - 1) / kPage);
  std::vector<int>& open = pool_[wanted.index];
  const size_t slot_bytes = wanted.pages * kPage;
  if (!open.empty()) {
    const int slot = open.back();
    open.pop_back();
    pool_bytes_ -= slot_bytes;
    return slot;
  }
  if (bytes_max_ && used_bytes_ + slot_bytes > bytes_max_) {
    trim_pool(0);
    if (used_bytes_ + slot_bytes > bytes_max_) throw std::bad_alloc();
  }
  std::vector<int>& cold = cold_[wanted.index];
  int slot = -1;
  if (!cold.empty()) {
    slot = cold.back();
    cold.pop_back();
  } else {
    if (arena_.count() >= static_cast<int>(kSlotsMax)) return -1;
    slot = arena_.carve(slot_bytes);
    if (slot < 0) return -1;
    slots_.resize(slot + 1);
    slots_[slot].size_class = wanted.index;
  }
  if (!arena_.open(slot)) {
    cold.push_back(slot);
    throw std::bad_alloc();
  }
  used_bytes_ += slot_bytes;
  return slot;
}

void GuardAllocator::record(int slot) {
  AllocationEntry& entry = recorder_->allocations[slot];
  entry.address = reinterpret_cast<uint64_t>(slots_[slot].block);
  entry.bytes = slots_[slot].bytes;
  entry.serial = ++serial_;
  entry.stage = static_cast<int32_t>(run_.stage);
  entry.allocated_call = recorder_->calls.load(std::memory_order_relaxed);
  entry.role = BufferRole::kOther;
  entry.name[0] = '\0';
  entry.state = AllocationEntry::kLive;
}

void GuardAllocator::fill(const Slot& slot, const GuardArena::Slot& room) const {
  poison(slot.block, slot.bytes, run_.poison);
  const size_t before = canary_before(slot.block, room), after = canary_after(slot.block + slot.bytes, room);
  std::memset(slot.block - before, kCanary, before);
  std::memset(slot.block + slot.bytes, kCanary, after);
}

void GuardAllocator::check_canaries(int index) {
  const Slot& slot = slots_[index];
  const GuardArena::Slot& room = arena_.slot(index);
  const size_t before = canary_before(slot.block, room), after = canary_after(slot.block + slot.bytes, room);
  const char* front = slot.block - before;
  const char* back = slot.block + slot.bytes;
  const bool front_whole = std::memcmp(front, canary.bytes, before) == 0;
  if (front_whole && std::memcmp(back, canary.bytes, after) == 0) return;
  MemoryFault fault = recorded_buffer(*recorder_, index);
  fault.access = MemoryFault::Access::kWrite;
  if (front_whole) {
    fault.place = MemoryFault::Place::kPastEnd;
    while (back[fault.distance] == canary.bytes[0]) ++fault.distance;
  } else {
    fault.place = MemoryFault::Place::kBeforeStart;
    fault.distance = 1;
    while (slot.block[-static_cast<ptrdiff_t>(fault.distance)] == canary.bytes[0]) ++fault.distance;
  }
  damage_.push_back(std::move(fault));
}

int GuardAllocator::slot_of(const void* block) const {
  const int slot = arena_.slot_near(block);
  return slot >= 0 && slots_[slot].block == block ? slot : -1;
}

void GuardAllocator::free_block(void* block) {
  if (!block) return;
  GuardAllocator& self = *the_allocator;
  if (!self.arena_.contains(block)) {
    std::free(block);
    return;
  }
  std::lock_guard<std::mutex> lock(self.mutex_);
  const int slot = self.slot_of(block);
  AOTIFUZZ_CHECK(slot >= 0) << "freed a block that is not live: " << block;
  self.release_slot(slot);
}

void GuardAllocator::release_slot(int index) {
  Slot& slot = slots_[index];
  if (slot.run == run_number_) check_canaries(index);
  AllocationEntry& entry = recorder_->allocations[index];
  entry.freed_call = recorder_->calls.load(std::memory_order_relaxed);
  entry.state = AllocationEntry::kFreed;
  slot.block = nullptr;
  live_bytes_ -= slot.bytes;
  if (slot.read_only) arena_.open(index);
  slot.read_only = false;
  const size_t bytes = arena_.slot(index).bytes;
  if (running_ && run_.freed != FreedMemory::kReused) return keep_back(index);
  pool_[slot.size_class].push_back(index);
  pool_bytes_ += bytes;
  if (pool_bytes_ > kPoolBytesMax) trim_pool(kPoolBytesMax / 2);
}

void GuardAllocator::trim_pool(size_t bytes_kept) {
  for (size_t c = kClasses; c-- > 0 && pool_bytes_ > bytes_kept;) {
    while (!pool_[c].empty() && pool_bytes_ > bytes_kept) {
      const int slot = pool_[c].back();
      pool_[c].pop_back();
      arena_.drop(slot);
      cold_[c].push_back(slot);
      pool_bytes_ -= arena_.slot(slot).bytes;
      used_bytes_ -= arena_.slot(slot).bytes;
    }
  }
}

void GuardAllocator::keep_back(int index) {
  const GuardArena::Slot& room = arena_.slot(index);
  if (run_.freed == FreedMemory::kInaccessible) {
    arena_.close(index);
    if (room.bytes > kKeepContentsMax) madvise(room.base, room.bytes, MADV_DONTNEED);
  } else {
    const AllocationEntry& entry = recorder_->allocations[index];
    std::memset(reinterpret_cast<char*>(entry.address), run_.poison, std::min<size_t>(entry.bytes, kFilledMax));
  }
  kept_.push_back(index);
}

void GuardAllocator::check_filled(int index) {
  const AllocationEntry& entry = recorder_->allocations[index];
  const auto* bytes = reinterpret_cast<const uint8_t*>(entry.address);
  const size_t filled = std::min<size_t>(entry.bytes, kFilledMax);
  // All equal to their neighbours and the first one right: all right.
  if (bytes[0] == run_.poison && std::memcmp(bytes, bytes + 1, filled - 1) == 0) return;
  MemoryFault fault = recorded_buffer(*recorder_, index);
  fault.access = MemoryFault::Access::kWrite;
  fault.place = MemoryFault::Place::kAfterFree;
  while (bytes[fault.distance] == run_.poison) ++fault.distance;
  damage_.push_back(std::move(fault));
}

void GuardAllocator::release_kept() {
  for (const int slot : kept_) {
    const size_t bytes = arena_.slot(slot).bytes;
    const bool inaccessible = run_.freed == FreedMemory::kInaccessible;
    if (!inaccessible || (bytes <= kKeepContentsMax && arena_.open(slot))) {
      pool_[slots_[slot].size_class].push_back(slot);
      pool_bytes_ += bytes;
    } else {
      arena_.drop(slot);
      cold_[slots_[slot].size_class].push_back(slot);
      used_bytes_ -= bytes;
    }
  }
  kept_.clear();
  if (pool_bytes_ > kPoolBytesMax) trim_pool(kPoolBytesMax / 2);
}

void GuardAllocator::begin_run(const GuardRun& run) {
  std::lock_guard<std::mutex> lock(mutex_);
  release_kept();
  damage_.clear();
  run_ = run;
  running_ = true;
  ++run_number_;
  serial_ = 0;
  recorder_->begin_run();
}

std::vector<MemoryFault> GuardAllocator::end_run() {
  std::lock_guard<std::mutex> lock(mutex_);
  running_ = false;
  if (run_.freed == FreedMemory::kFilled)
    for (const int slot : kept_) check_filled(slot);
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].block && slots_[i].run == run_number_) check_canaries(static_cast<int>(i));
  ++run_number_;  // blocks of this run that are freed later were judged here
  return std::exchange(damage_, {});
}

void GuardAllocator::label(const void* block, BufferRole role, std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int slot = slot_of(block);
  if (slot < 0) return;
  AllocationEntry& entry = recorder_->allocations[slot];
  const size_t n = std::min(name.size(), AllocationEntry::kNameMax - 1);
  std::memcpy(entry.name, name.data(), n);
  entry.name[n] = '\0';
  entry.role = role;
}

void GuardAllocator::make_read_only(const void* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  const int slot = slot_of(block);
  if (slot >= 0) slots_[slot].read_only = arena_.open_read_only(slot);
}

GuardAllocator::Stray GuardAllocator::stray_from(int slot, const void* address) const {
  using Place = MemoryFault::Place;
  const AllocationEntry& entry = recorder_->allocations[slot];
  const GuardArena::Slot& room = arena_.slot(slot);
  const bool live = slots_[slot].block != nullptr;
  const uint64_t at = reinterpret_cast<uint64_t>(address), end = entry.address + entry.bytes;
  Stray stray{.slot = slot, .within_slot = address >= room.base && address < room.end(), .live = live};
  if (at >= entry.address && at < end) {
    stray.place = live ? Place::kReadOnly : Place::kAfterFree;
    stray.distance = at - entry.address;
  } else {
    stray.place = at >= end ? Place::kPastEnd : Place::kBeforeStart;
    stray.distance = at >= end ? at - end : entry.address - at;
  }
  return stray;
}

void GuardAllocator::describe(const void* address, FaultEntry* fault) const {
  if (!arena_.contains(address)) return;
  fault->guarded = 1;
  fault->slot = -1;
  Stray best;
  const auto consider = [&](int slot, bool is_argument) {
    if (slot < 0 || slot >= arena_.count()) return;
    Stray stray = stray_from(slot, address);
    stray.is_argument = is_argument;
    if (best.slot < 0 || stray.explains_better_than(best)) best = stray;
  };
  if (recorder_->call_running == 1)
    for (const uint64_t word : recorder_->call_words) {
      const int slot = arena_.slot_near(reinterpret_cast<const void*>(word));
      if (slot < 0 || !slots_[slot].block) continue;
      const uint64_t begin = recorder_->allocations[slot].address;
      if (word >= begin && word < begin + recorder_->allocations[slot].bytes) consider(slot, true);
    }
  // Before the first slot and behind the last one nothing owns the address.
  const int home = arena_.slot_near(address), last = arena_.count() - 1;
  for (const int slot : {home < 0 ? 0 : home - 1, home < 0 ? last : home, home + 1}) consider(slot, false);
  if (best.slot < 0 || (!best.is_argument && best.distance > kNearMax)) return;
  fault->slot = best.slot;
  fault->place = static_cast<int32_t>(best.place);
  fault->distance = best.distance;
}

bool GuardAllocator::Stray::explains_better_than(const Stray& other) const {
  if (within_slot != other.within_slot) return within_slot;
  if (is_argument != other.is_argument) return is_argument;
  if (live != other.live) return live;
  return distance < other.distance;
}

}  // namespace aotifuzz
