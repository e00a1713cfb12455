#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace aotifuzz {

/// A piece of device memory in the middle of reserved addresses that lead nowhere: what leaves the piece by less than
/// kCudaGuardBytes faults.
struct CudaSlot {
  CUdeviceptr start = 0;  ///< first usable byte; 0 = no slot
  size_t bytes = 0;       ///< usable
  CUmemGenericAllocationHandle memory = 0;
  CUstream stream = nullptr;  ///< that last used it
  size_t filled = 0;          ///< bytes before its end that hold `pattern`, untouched since
  uint8_t pattern = 0;
  int entry = -1;  ///< of DeviceTable; -1 = none

  CUdeviceptr end() const { return start + bytes; }
};

/// Reserved on each side of a slot. Addresses cost nothing, and strides of megabytes are common.
constexpr size_t kCudaGuardBytes = size_t{64} << 20;

/// Makes slots of one device through the driver's virtual memory API. Not thread-safe.
class CudaSlotMaker {
 public:
  explicit CudaSlotMaker(int device);

  /// Usable bytes of a slot for `bytes`: whole granules (2 MiB), and beyond 32 of them four steps for each doubling, so
  /// that sizes which vary share slots.
  size_t slot_bytes(size_t bytes) const;
  /// `bytes` as slot_bytes() gives them. No slot when the device has no memory left.
  CudaSlot make(size_t bytes) const;
  /// Nothing on the device may still use it.
  void destroy(const CudaSlot& slot) const;
  /// Takes the memory out of its addresses, so that any access faults, and puts it back. Nothing may be using it.
  void close(const CudaSlot& slot) const;
  bool open(const CudaSlot& slot) const;
  /// A write faults from now on. False where the device cannot do that.
  bool make_read_only(const CudaSlot& slot) const;

 private:
  CUmemAllocationProp properties_{};
  size_t granule_ = 0;
};

}  // namespace aotifuzz
