#pragma once

#include <cuda.h>

#include <vector>

#include "worker/cuda/cuda_guard_allocator.h"
#include "worker/snapshots.h"

namespace aotifuzz {

/// Of one GPU's memory. What may be read is what the allocator says of its blocks, or the driver of memory that is not
/// the allocator's. Room is taken as it is needed, and kept.
class DeviceSnapshots final : public Snapshots {
 public:
  /// `allocator` null: torch's own is in use. The device's context must be current then and whenever copies are made.
  DeviceSnapshots(c10::Device device, const CudaGuardAllocator* allocator) : device_(device), allocator_(allocator) {}
  ~DeviceSnapshots() override;
  DeviceSnapshots(const DeviceSnapshots&) = delete;
  DeviceSnapshots& operator=(const DeviceSnapshots&) = delete;

  c10::Device device() const override { return device_; }
  void clear() override;
  const char* copy(const void* from, size_t bytes) override;

 private:
  /// Memory that copies are put into one after the other.
  struct Room {
    CUdeviceptr start = 0;
    size_t bytes = 0, used = 0;
  };
  bool may_read(const void* from, size_t bytes) const;
  CUdeviceptr take(size_t bytes);

  c10::Device device_;
  const CudaGuardAllocator* allocator_;
  std::vector<Room> rooms_;
  size_t held_ = 0;
};

}  // namespace aotifuzz
