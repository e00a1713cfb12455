#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/outcome.h"

namespace aotifuzz {

/// What a buffer is to the package.
enum class BufferRole : uint8_t { kOther, kInput, kConstant };

/// Who lies in a guarded slot, or lay there last.
struct AllocationEntry {
  enum State : int32_t { kNever, kLive, kFreed };
  static constexpr size_t kNameMax = 91;

  uint64_t address;
  uint64_t bytes;
  uint32_t serial;         ///< within its run, from 1
  int32_t state;           ///< State
  int32_t stage;           ///< Stage at allocation
  int32_t allocated_call;  ///< kernel calls of the run that had begun at allocation
  int32_t freed_call;      ///< and when it was freed
  BufferRole role;
  char name[kNameMax];  ///< input or constant; "" = not known
};
static_assert(sizeof(AllocationEntry) == 128, "two cache lines");

/// What the signal handler found out about the memory that was touched. Written once, by a process about to die.
struct FaultEntry {
  static constexpr size_t kFramesMax = 32;
  static constexpr size_t kStackTextMax = 3072;

  int32_t guarded = 0;    ///< 1: the address lies in a guard region or in a slot whose buffer was freed
  int32_t access = 0;     ///< MemoryFault::Access
  int32_t place = 0;      ///< MemoryFault::Place
  int32_t slot = -1;      ///< index into FlightRecorder::allocations, or device_allocations; -1: near none
  uint64_t distance = 0;  ///< bytes past the end, before the start, or from the start of what was freed
  int32_t frame_count = 0;
  int32_t on_device = 0;                ///< 1: `slot` is one of the device
  uint64_t frames[kFramesMax] = {};     ///< the faulting instruction, then return addresses
  char stack_text[kStackTextMax] = {};  ///< the same as symbols, one a line, by the fork server after the death
};

/// Shared memory (memfd) that a worker writes before each step and the parent reads after its death. Plain data: it
/// must mean the same in both processes, so a change of layout bumps kVersion. Make one with `new (memory)
/// FlightRecorder;` on zeroed memory: the allocation table has no initialisers, so that unused pages of it stay
/// untouched.
struct FlightRecorder {
  static constexpr uint32_t kMagic = 0x41465a31;  // "AFZ1"
  static constexpr uint32_t kVersion = 5;
  static constexpr size_t kAllocations = 16'384;
  static constexpr size_t kDeviceAllocations = 4096;
  static constexpr size_t kKernels = 512;  ///< distinct; what comes later has no name here
  static constexpr size_t kKernelNameMax = 256;  ///< fused kernels are named after all their ops
  static constexpr size_t kCalls = 4096;  ///< of a run, whose names are kept
  static constexpr size_t kCallWords = 32;
  static constexpr size_t kHostCallWords = 16;  ///< behind the arguments of a call lie those of its caller

  uint32_t magic = kMagic;
  uint32_t version = kVersion;
  std::atomic<uint64_t> case_id{0};
  std::atomic<int32_t> stage{0};              ///< Stage
  std::atomic<int32_t> reference_done{0};     ///< 1: the reference run of this case ended
  std::atomic<int32_t> reference_accepts{0};  ///< 1: and it finished
  std::atomic<uint64_t> fault_address{0};     ///< set by the signal handler
  std::atomic<int32_t> fault_signal{0};
  char step[160] = {};  ///< op or oracle being run: "aten.add.Tensor"

  std::atomic<int32_t> calls{0};         ///< kernel calls of this run that began
  std::atomic<int32_t> call_running{0};  ///< 1: the last of them has not returned
  uint64_t call_words[kCallWords] = {};  ///< its first integer arguments; of a launch: of any type. Then 0
  int32_t kernel_count = 0;
  FaultEntry fault;

  char kernels[kKernels][kKernelNameMax];     ///< filled when the package is loaded
  uint16_t call_kernels[kCalls];              ///< index into `kernels`, by call
  AllocationEntry allocations[kAllocations];  ///< by slot, in order of address
  /// Of the device's memory, by slot, in no order. What has no place here is not named.
  AllocationEntry device_allocations[kDeviceAllocations];

  void begin_case(uint64_t id) {
    reference_done = reference_accepts = 0;
    fault_address = 0;
    fault_signal = 0;
    fault.guarded = 0;
    fault.on_device = 0;
    fault.frame_count = 0;
    fault.stack_text[0] = '\0';
    begin_run();
    set_step("");
    stage = static_cast<int32_t>(Stage::kParse);
    case_id = id;
  }
  void begin_run() {
    calls.store(0, std::memory_order_relaxed);
    call_running.store(0, std::memory_order_relaxed);
  }
  void set_stage(Stage s) { stage = static_cast<int32_t>(s); }
  void set_step(std::string_view text) {
    const size_t n = text.size() < sizeof(step) - 1 ? text.size() : sizeof(step) - 1;
    std::memcpy(step, text.data(), n);
    step[n] = '\0';
  }
};
static_assert(sizeof(FlightRecorder) == 2'764'544, "layout is shared between programs: bump kVersion and this number");

}  // namespace aotifuzz
