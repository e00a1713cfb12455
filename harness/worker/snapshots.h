#pragma once

#include <c10/core/Device.h>

#include <cstddef>

namespace aotifuzz {

/// Copies of memory that others own, in a place that is used again from run to run. A copy of what cannot be read fails
/// instead of ending the process: what a map says about a buffer may be wrong. Not thread-safe.
class Snapshots {
 public:
  static constexpr size_t kBytes = size_t{256} << 20;  ///< room for all copies together
  /// Copies start where a vector may be loaded.
  static constexpr size_t kAlignment = 64;

  virtual ~Snapshots() = default;
  virtual c10::Device device() const = 0;  ///< whose memory it copies, and where the copies lie
  virtual void clear() = 0;
  /// Null when the bytes cannot be read, or no room is left. Valid until clear(). On a device it is made in the order
  /// of the current stream.
  virtual const char* copy(const void* from, size_t bytes) = 0;
};

/// Of the host's memory. The room is reserved, and takes memory as it is used.
class HostSnapshots final : public Snapshots {
 public:
  HostSnapshots();
  ~HostSnapshots() override;
  HostSnapshots(const HostSnapshots&) = delete;
  HostSnapshots& operator=(const HostSnapshots&) = delete;

  c10::Device device() const override { return c10::kCPU; }
  void clear() override { used_ = 0; }
  const char* copy(const void* from, size_t bytes) override;

 private:
  int file_ = -1;
  char* memory_ = nullptr;
  size_t used_ = 0;
};

}  // namespace aotifuzz
