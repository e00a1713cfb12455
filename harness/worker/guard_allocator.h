#pragma once

#include <c10/core/Allocator.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/flight_recorder.h"
#include "core/memory_fault.h"
#include "worker/guard_arena.h"

namespace aotifuzz {

/// What becomes of a block that is freed during a run.
enum class FreedMemory {
  kReused,        ///< the next block of its size gets the slot
  kFilled,        ///< nobody gets it before the next run; filled, so that a read is garbage and a write is noticed
  kInaccessible,  ///< nor can anyone touch it: two system calls a block
};

/// How memory is laid out and filled during one run.
struct GuardRun {
  Stage stage = Stage::kIdle;
  uint8_t poison = 0xA5;  ///< what fresh memory is filled with
  bool at_start = false;  ///< the first byte of each block lies against the guard, not the last
  FreedMemory freed = FreedMemory::kReused;
};

/// CPU allocator that makes a stray access a SIGSEGV at once instead of luck: every block lies against inaccessible
/// memory that reaches megabytes beyond it.
///
/// Place:    a block ends exactly where its slot does, so its start has whatever alignment the size gives, or, in a run
///           `at_start`, it starts where its slot does. Tensors are a whole number of elements long, so elements stay
///           aligned. MKL's products below 16-byte alignment round differently by a unit in the last place. With
///           set_alignment() starts are aligned and ends have slack.
/// Canary:   what of the slot lies before or behind a block is filled with a pattern for up to kCanaryBytes.
///           Damage to it is noticed when the block is freed or the run ends, and reported by end_run().
/// Fresh:    memory is filled with the run's pattern before it is handed out, so a read of memory that was
///           never written gives values that differ between runs with different patterns, on every machine alike. Past
///           kPoisonWhole only the ends and one line of each page are filled: filling must not outweigh the run.
/// Freed:    as the run says (FreedMemory). A write after free is damage that end_run() reports, or traps.
/// Recorder: who lies in each slot is written to the flight recorder's table before the block is handed out.
/// Speed:    slots are pooled by size; a warm allocation costs the fill and a table entry.
/// Bounds:   at most kPoolBytesMax of freed memory is kept, limit_growth() limits what is in use, and at most kSlotsMax
///           slots are guarded (each takes two of the process's 65,530 mappings); past that blocks are plain malloc
///           memory, counted by unguarded(). Sizes are rounded up to four steps for each doubling.
/// Failure:  std::bad_alloc when the system gives no memory.
/// Threads:  safe, except begin_run() and end_run(). Fork: safe while no other thread allocates.
class GuardAllocator final : public c10::Allocator {
 public:
  static constexpr size_t kPage = GuardArena::kPage;
  static constexpr size_t kPoisonWhole = size_t{1} << 20;
  static constexpr size_t kPoolBytesMax = size_t{256} << 20;
  static constexpr size_t kSlotsMax = FlightRecorder::kAllocations;
  static constexpr size_t kCanaryBytes = 512;

  /// Makes it c10's CPU allocator for the rest of the process. Call before any tensor exists; later calls do nothing.
  /// `recorder` null: the table lies in memory of its own.
  static GuardAllocator& install(FlightRecorder* recorder = nullptr);
  static GuardAllocator* installed();  ///< null: none

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

  /// Blocks allocated from now on are laid out and filled so; what the last run kept back can be used again.
  void begin_run(const GuardRun& run);
  /// What is freed later is used again at once. Returns the damage to blocks of this run and around them.
  std::vector<MemoryFault> end_run();
  /// What a live block is to the package. Blocks that are not ours are left alone.
  void label(const void* block, BufferRole role, std::string_view name);
  /// A live block from now on traps when it is written.
  void make_read_only(const void* block);

  /// Of the starts of blocks allocated from now on; a power of two up to a page, 1 for exact ends.
  void set_alignment(size_t bytes) { alignment_ = bytes; }
  /// Memory beyond what is in use now, kept slots included, for which allocate() gives std::bad_alloc.
  void limit_growth(size_t bytes) { bytes_max_ = used_bytes_ + bytes; }
  /// Bytes of guarded blocks that are not freed.
  size_t live_bytes();
  uint64_t unguarded() const { return unguarded_.load(std::memory_order_relaxed); }

  /// Fills in whether and how `address` lies in guarded memory: for the signal handler, so it takes no lock.
  void describe(const void* address, FaultEntry* fault) const;

 private:
  struct Slot {
    char* block = nullptr;  ///< null: not in use
    size_t bytes = 0;
    int size_class = 0;
    uint32_t run = 0;  ///< number of the run in which it was allocated
    bool read_only = false;
  };
  /// An address as seen from one slot.
  struct Stray {
    int slot = -1;
    bool within_slot = false;
    bool is_argument = false;  ///< the kernel being run was given a pointer into the slot's block
    bool live = false;
    MemoryFault::Place place = MemoryFault::Place::kPastEnd;
    uint64_t distance = 0;
    bool explains_better_than(const Stray& other) const;
  };
  explicit GuardAllocator(FlightRecorder* recorder);
  static void free_block(void* block);
  int take_slot(size_t bytes);  ///< open; -1 when no further slot may be guarded; mutex held
  void release_slot(int slot);  ///< mutex held
  void trim_pool(size_t bytes_kept);
  void keep_back(int slot);
  void release_kept();
  void fill(const Slot& slot, const GuardArena::Slot& room) const;
  void record(int slot);
  void check_canaries(int slot);
  void check_filled(int slot);
  int slot_of(const void* block) const;  ///< -1: not ours
  Stray stray_from(int slot, const void* address) const;

  std::mutex mutex_;
  GuardArena arena_;
  FlightRecorder* recorder_;
  std::vector<Slot> slots_;             ///< by arena slot
  std::vector<std::vector<int>> pool_;  ///< open slots by size class
  std::vector<std::vector<int>> cold_;  ///< dropped slots by size class
  std::vector<int> kept_;               ///< freed in this run and not reused
  std::vector<MemoryFault> damage_;
  GuardRun run_;
  bool running_ = false;
  uint32_t run_number_ = 0;
  uint32_t serial_ = 0;
  size_t alignment_ = 1;
  size_t pool_bytes_ = 0;
  size_t used_bytes_ = 0;  ///< of slots that are not dropped
  size_t live_bytes_ = 0;
  size_t bytes_max_ = 0;   ///< 0 = no limit
  std::atomic<uint64_t> unguarded_{0};
};

}  // namespace aotifuzz
