#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aotifuzz {

/// Address space in which slots lie far apart: whatever lies between them is inaccessible, so that a stray access of
/// any ordinary distance hits no other slot. Slots are carved once and never move; closing one takes its access away,
/// dropping one also gives its memory back to the system.
///
/// Guards:  at least kGuard bytes on either side of every slot. Reserved address space costs no memory.
/// Place:   slots lie in order of their index. Each starts at another page of its granule: buffers that all had
///          the same low address bits would share one set of the TLB.
/// Threads: one at a time; slot_near() and contains() also from a signal handler.
class GuardArena {
 public:
  static constexpr size_t kPage = 4096;
  /// Farther than any access of one row or column of a tensor of a few MiB; the matrix of planted faults goes to 2 MiB.
  static constexpr size_t kGuard = size_t{3} << 20;
  static constexpr size_t kGranule = size_t{8} << 20;

  /// Reserves `bytes`, or half as often as the system refuses. Slots cannot be carved from an arena that got none.
  explicit GuardArena(size_t bytes);
  GuardArena(const GuardArena&) = delete;
  GuardArena& operator=(const GuardArena&) = delete;

  struct Slot {
    char* base = nullptr;
    size_t bytes = 0;
    char* end() const { return base + bytes; }
  };
  /// A slot of whole pages, closed; -1 when no address space is left.
  int carve(size_t bytes);
  bool open(int slot);  ///< false: the system refuses
  bool open_read_only(int slot);
  bool close(int slot);  ///< contents are kept
  void drop(int slot);   ///< closed, contents gone

  const Slot& slot(int index) const { return slots_[index]; }
  int count() const { return static_cast<int>(slots_.size()); }
  bool contains(const void* address) const {
    return address >= begin_ && address < static_cast<const void*>(begin_ + bytes_);
  }
  /// The slot in whose stretch of the arena the address lies (in it, or in the guards around it); -1 when none is.
  int slot_near(const void* address) const;

 private:
  char* begin_ = nullptr;
  size_t bytes_ = 0;
  size_t next_granule_ = 1;    ///< the first stays empty: the guard before the first slot
  uint32_t* owner_ = nullptr;  ///< by granule: index of the slot + 1; 0 = none
  std::vector<Slot> slots_;
};

}  // namespace aotifuzz
