#pragma once

#include <cstdint>
#include <vector>

#include "worker/throw_observer.h"

namespace aotifuzz {

/// Keeps where the first exception of this thread was thrown while this lives: what fails deep inside is often thrown
/// again, with less in it, by those who called it. Noting it allocates nothing: what is thrown may be std::bad_alloc.
/// One at a time in a thread.
class ThrowStack {
 public:
  ThrowStack();
  ~ThrowStack();
  ThrowStack(const ThrowStack&) = delete;
  ThrowStack& operator=(const ThrowStack&) = delete;

  /// Return addresses, innermost first; empty: nothing was thrown.
  std::vector<uint64_t> frames() const;

 private:
  /// Deeper than any op below a package's run.
  static constexpr int kFramesMax = 64;
  static void note();

  ThrowObserver before_;
  void* frames_[kFramesMax];
  int count_ = 0;
};

}  // namespace aotifuzz
