#pragma once

#include <cstdint>
#include <vector>

#include "worker/throw_observer.h"

namespace aotifuzz {

/// Keeps where the first exception of this thread was thrown while this lives: what fails deep inside is often thrown
/// again, with less in it, by those who called it. Ten microseconds for that one exception, nothing for the others. One
/// at a time.
class ThrowStack {
 public:
  ThrowStack();
  ~ThrowStack();
  ThrowStack(const ThrowStack&) = delete;
  ThrowStack& operator=(const ThrowStack&) = delete;

  /// Return addresses, innermost first; empty: nothing was thrown.
  const std::vector<uint64_t>& frames() const { return frames_; }

 private:
  static void note();

  ThrowObserver before_;
  std::vector<uint64_t> frames_;
};

}  // namespace aotifuzz
