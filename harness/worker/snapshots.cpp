#include "worker/snapshots.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace aotifuzz {

HostSnapshots::HostSnapshots() {
  file_ = memfd_create("aotifuzz-snapshots", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, kBytes) != 0) return;
  void* memory = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file_, 0);
  if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
}

HostSnapshots::~HostSnapshots() {
  if (memory_) munmap(memory_, kBytes);
  if (file_ >= 0) close(file_);
}

const char* HostSnapshots::copy(const void* from, size_t bytes) {
  if (!memory_ || bytes > kBytes - used_) return nullptr;
  // The system call says EFAULT where a load would fault.
  if (bytes > 0 && pwrite(file_, from, bytes, static_cast<off_t>(used_)) != static_cast<ssize_t>(bytes)) return nullptr;
  const char* copied = memory_ + used_;
  used_ = std::min(kBytes, (used_ + bytes + kAlignment - 1) / kAlignment * kAlignment);
  return copied;
}

}  // namespace aotifuzz
