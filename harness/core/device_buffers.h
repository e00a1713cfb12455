#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/flight_recorder.h"
#include "core/memory_fault.h"

namespace aotifuzz {

/// A block of device memory that a dead worker had handed out. A driver that reports a fault names no address; who
/// learns one otherwise (compute-sanitizer) finds the block with it here.
struct DeviceBuffer {
  uint64_t address = 0;
  bool is_argument = false;  ///< the launch that was running had a pointer into it
  MemoryFault buffer;        ///< which; the access is not filled in
};

/// The table of the device. Whatever bytes a dying process left there are read safely.
std::vector<DeviceBuffer> recorded_device_buffers(const FlightRecorder& recorder);

/// The access to `address` as seen from the block that explains it best: one that holds it, else the nearest argument
/// of the launch, else the nearest block. An address near null is no buffer's. None when all lie farther away than a
/// stray index of any sense could reach.
std::optional<MemoryFault> fault_near(const std::vector<DeviceBuffer>& buffers, uint64_t address,
                                      MemoryFault::Access access);

}  // namespace aotifuzz
