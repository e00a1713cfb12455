#pragma once

#include <cuda.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/flight_recorder.h"

namespace aotifuzz {

/// Writes who lies where on the device to the flight recorder's table, for whoever asks after this process has lost the
/// device. Each slot of the allocator has an entry of its own for as long as it exists. Slots beyond the table's end
/// stay unnamed. Not thread-safe.
class DeviceTable {
 public:
  /// `recorder` null: nothing is recorded.
  explicit DeviceTable(FlightRecorder* recorder) : recorder_(recorder) {}

  /// An entry for a new slot; -1 = none is left.
  int add();
  void remove(int entry);
  /// Buffers are numbered anew.
  void begin_run() { serial_ = 0; }
  /// The number of the block within its run, from 1.
  uint32_t allocated(int entry, CUdeviceptr address, size_t bytes);
  void freed(int entry);
  void label(int entry, BufferRole role, std::string_view name);
  /// Block `serial` of this run, `bytes` long, in the slot of `entry`, was overwritten from `distance` bytes past its
  /// end on. Another block may lie there by now.
  void damaged(int entry, uint32_t serial, size_t bytes, size_t distance);

 private:
  AllocationEntry* at(int entry) const {
    return recorder_ && entry >= 0 ? &recorder_->device_allocations[entry] : nullptr;
  }

  FlightRecorder* recorder_;
  std::vector<int> unused_;
  int next_ = 0;
  uint32_t serial_ = 0;
};

}  // namespace aotifuzz
