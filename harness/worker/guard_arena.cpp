#include "worker/guard_arena.h"

#include <sys/mman.h>

namespace aotifuzz {
namespace {

/// Pages by which the starts of slots differ within their granule: at most 1 MiB.
constexpr size_t kColours = 256;

void* map_inaccessible(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

GuardArena::GuardArena(size_t bytes) {
  for (bytes_ = bytes; bytes_ >= 4 * kGranule; bytes_ /= 2)
    if ((begin_ = static_cast<char*>(map_inaccessible(bytes_)))) break;
  if (begin_) {
    void* owners = mmap(nullptr, bytes_ / kGranule * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    owner_ = owners == MAP_FAILED ? nullptr : static_cast<uint32_t*>(owners);
  }
  if (!owner_) bytes_ = 0;
}

int GuardArena::carve(size_t bytes) {
  const size_t colour = slots_.size() % kColours * kPage;
  if (bytes > bytes_) return -1;
  const size_t granules = (colour + bytes + kGuard + kGranule - 1) / kGranule;
  if (next_granule_ + granules > bytes_ / kGranule) return -1;
  slots_.push_back({begin_ + next_granule_ * kGranule + colour, bytes});
  for (size_t i = 0; i < granules; ++i) owner_[next_granule_ + i] = static_cast<uint32_t>(slots_.size());
  next_granule_ += granules;
  return count() - 1;
}

bool GuardArena::open(int slot) { return mprotect(slots_[slot].base, slots_[slot].bytes, PROT_READ | PROT_WRITE) == 0; }

bool GuardArena::open_read_only(int slot) { return mprotect(slots_[slot].base, slots_[slot].bytes, PROT_READ) == 0; }

bool GuardArena::close(int slot) { return mprotect(slots_[slot].base, slots_[slot].bytes, PROT_NONE) == 0; }

void GuardArena::drop(int slot) {
  // A mapping in its place, not mprotect: that would keep the memory, and what strict accounting charged for it.
  mmap(slots_[slot].base, slots_[slot].bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int GuardArena::slot_near(const void* address) const {
  if (!contains(address)) return -1;
  return static_cast<int>(owner_[(static_cast<const char*>(address) - begin_) / kGranule]) - 1;
}

}  // namespace aotifuzz
