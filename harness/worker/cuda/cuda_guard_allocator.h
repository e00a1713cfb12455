#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "worker/cuda/cuda_fill.h"
#include "worker/cuda/cuda_slot.h"
#include "worker/cuda/device_table.h"
#include "worker/device_runtime.h"

namespace aotifuzz {

/// CUDA allocator that makes a stray access a fault at once instead of luck: the last byte of every block lies against
/// addresses that lead nowhere, or, in a run `at_start`, its first byte does.
///
/// Place:   starts are aligned to 16 bytes, as generated kernels assume; the up to 15 bytes between a block's end
///          and the guard are a canary, checked when the block is freed and when the run ends.
/// Fresh:   memory is filled with the run's pattern: the last kFilledAhead bytes of pooled slots when a run begins,
///          with one launch for all; whatever else a block needs on the stream that asks for it.
/// Freed:   a slot is used again in the order of its stream. In a run with `protect_freed` a free waits for the
///          device and takes the memory out of its addresses until the run ends.
/// Speed:   slots are pooled by size; a warm allocation of a small block costs a look-up.
/// Recorder: who lies in each slot is written to the flight recorder's table before the block is handed out.
/// Bounds:  freed memory beyond a sixteenth of the device's is given back when a run ends, all of it when there is no
///          memory left. Every block takes at least one granule (2 MiB).
/// Failure: c10::OutOfMemoryError when the device, or the limit, has no room.
/// Threads: safe, except begin_run() and end_run().
class CudaGuardAllocator {
 public:
  static constexpr size_t kFilledAhead = size_t{64} << 10;
  /// Memory up to which a new slot is made rather than a pooled one filled in the midst of a run.
  static constexpr size_t kFreshSlotsMax = size_t{512} << 20;

  /// Makes it torch's CUDA allocator for the rest of the process. Call with the device's context current and before
  /// torch has allocated anything there.
  static CudaGuardAllocator& install(int device, FlightRecorder* recorder);

  /// `recorder` null: nobody learns which block was hit.
  explicit CudaGuardAllocator(int device, FlightRecorder* recorder = nullptr);
  void* allocate(size_t bytes, CUstream stream);
  void free(void* block, CUstream stream);

  void begin_run(const DeviceRun& run);
  /// Queues the checks of canaries; the device must be waited for before end_run().
  void queue_checks();
  /// Ends the protection of what was freed and gives back what the pool need not keep. What was written behind a block,
  /// if anything: "3 bytes past the end of a block of 397 bytes"; the recorder then says which block. The device must
  /// be idle.
  std::optional<std::string> end_run();

  /// From `address` on to where the memory of the live block that it lies in ends; 0 = in none.
  size_t bytes_readable(const void* address) const;

  /// What a live block is to the package. Blocks that are not ours are left alone.
  void label(const void* block, BufferRole role, std::string_view name);
  /// A live block faults from now on when it is written; waits for the device. False: the device cannot do that.
  bool make_read_only(const void* block);

  /// Memory that blocks and pool may take together; 0 = no limit.
  void limit(size_t bytes) { bytes_max_ = bytes; }
  size_t bytes_held() const { return bytes_held_; }  ///< of all slots

 private:
  struct Block {
    CudaSlot slot;
    size_t bytes = 0;
    uint64_t run = 0;
    uint32_t serial = 0;  ///< within its run
    uint8_t pattern = 0;
    bool has_canary = false;
    bool read_only = false;
  };
  struct Check {
    int entry = -1;
    uint32_t serial = 0;
    size_t bytes = 0;
    uint8_t pattern = 0;
  };
  CudaSlot take_slot(size_t bytes, CUstream stream);
  CudaSlot make_slot(size_t slot_bytes);
  bool take_pooled(size_t slot_bytes, size_t filled, CudaSlot* slot);
  void fill(CudaSlot& slot, CUdeviceptr start, size_t bytes, CUstream stream);
  void release(CudaSlot slot);
  void destroy(const CudaSlot& slot);
  void trim(size_t bytes_kept);
  void queue_check(const Block& block, CUstream stream);

  mutable std::mutex mutex_;
  CudaSlotMaker maker_;
  CudaFill fill_;
  DeviceTable table_;
  std::map<size_t, std::vector<CudaSlot>> pool_;  ///< by bytes; those that are filled last
  std::unordered_map<void*, Block> live_;
  std::vector<CudaSlot> closed_;
  std::vector<Check> checks_;  ///< queued in this run; their bytes lie in copies_
  uint8_t* copies_ = nullptr;
  DeviceRun run_;
  uint64_t run_number_ = 0;
  size_t pool_bytes_ = 0, pool_max_ = 0, bytes_held_ = 0, bytes_max_ = 0;
};

}  // namespace aotifuzz
