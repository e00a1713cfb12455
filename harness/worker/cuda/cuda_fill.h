#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace aotifuzz {

/// Fills many pieces of device memory with one launch: a launch for each costs more than the run whose memory it is.
/// Not thread-safe.
class CudaFill {
 public:
  static constexpr size_t kRangesMax = 512;

  /// The device's context must be current.
  CudaFill();
  /// Start and length are multiples of 16. False when there is no room for more: then fill by other means.
  bool add(CUdeviceptr start, size_t bytes);
  /// Fills what was added, in the order of the default stream. The device must be idle since the last call.
  void launch(uint8_t pattern);

 private:
  struct Range {
    CUdeviceptr start;
    uint64_t bytes;
  };
  CUfunction function_ = nullptr;
  Range* ranges_ = nullptr;  ///< page-locked, so that the kernel reads them where they are
  unsigned count_ = 0;
};

}  // namespace aotifuzz
