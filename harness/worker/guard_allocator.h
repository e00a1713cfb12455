#pragma once

#include <c10/core/Allocator.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace aotifuzz {

/// CPU allocator that makes a stray access a SIGSEGV at once instead of luck: the last byte of every block lies against
/// an inaccessible page.
///
/// Place:    blocks end exactly at the page's end, so their start has whatever alignment the size gives. Tensors are a
///           whole number of elements long, so elements stay aligned. MKL's products below 16-byte alignment round
///           differently by a unit in the last place. With set_alignment() starts are aligned and ends have slack.
///           What lies before a block is not guarded: one block cannot have both ends against a page.
/// Fresh:    memory is filled with a byte pattern before it is handed out, so a read of memory that was never written
///           gives values that differ between runs with different patterns, on every machine alike. Past
///           kPoisonWhole only the ends and one line of each page are filled: filling must not outweigh the run.
/// Speed:    slots are pooled by page count; a warm allocation costs a hash look-up and the fill.
/// Bounds:   at most kPoolBytesMax of freed memory is kept, and at most kSlotsMax slots are guarded (each takes two of
///           the process's 65,530 mappings); past that blocks are plain malloc memory, counted by unguarded().
/// Failure:  std::bad_alloc when the system gives no memory.
/// Threads:  safe. Fork: safe while no other thread allocates.
class GuardAllocator final : public c10::Allocator {
 public:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kPoisonWhole = size_t{1} << 20;
  static constexpr size_t kPoolBytesMax = size_t{256} << 20;
  static constexpr size_t kSlotsMax = 20'000;

  /// Makes it c10's CPU allocator for the rest of the process. Call before any tensor exists; later calls do nothing.
  static GuardAllocator& install();

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

  /// Pattern that memory allocated from now on is filled with.
  void set_poison(uint8_t pattern) { poison_.store(pattern, std::memory_order_relaxed); }
  /// Of the starts of blocks allocated from now on; a power of two up to a page, 1 for exact ends.
  void set_alignment(size_t bytes) { alignment_.store(bytes, std::memory_order_relaxed); }
  uint64_t unguarded() const { return unguarded_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    char* base = nullptr;  ///< `pages` usable pages, then one inaccessible page
    size_t pages = 0;      ///< 0: not a slot but malloc memory
  };
  GuardAllocator() = default;
  static void free_block(void* block);
  char* map_slot(size_t pages);  ///< nullptr when no further slot may be guarded; mutex held
  void unmap_slot(const Slot& slot);
  void poison(char* block, size_t bytes) const;

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<char*>> pool_;  ///< by page count
  std::unordered_map<void*, Slot> live_;                 ///< by block address
  size_t pool_bytes_ = 0;
  size_t slots_ = 0;
  std::atomic<uint64_t> unguarded_{0};
  std::atomic<uint8_t> poison_{0xA5};
  std::atomic<size_t> alignment_{1};
};

}  // namespace aotifuzz
