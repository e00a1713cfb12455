#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory_fault.h"
#include "worker/device_runtime.h"
#include "worker/guard_allocator.h"

namespace aotifuzz {

/// The guarded memory that kernels are run against: the CPU's, or a device's. Not thread-safe.
class KernelMemory {
 public:
  static constexpr uint8_t kPoison = 0xA5;

  /// How memory is laid out and filled during one run.
  struct Run {
    uint8_t poison = kPoison;  ///< what fresh memory is filled with
    bool at_start = false;     ///< blocks start, not end, against inaccessible memory
    bool judged = true;        ///< false: damage around blocks of a device is not looked for
  };

  /// `device` null: the CPU. Both must outlive this.
  explicit KernelMemory(GuardAllocator& host, DeviceRuntime* device = nullptr) : host_(host), device_(device) {}

  c10::Device device() const { return device_ ? device_->device() : c10::Device(c10::kCPU); }
  /// Do runs on it change from one to the next by the order of threads alone?
  bool is_parallel() const { return device_ != nullptr; }

  void begin_run(const Run& run);
  /// What the tensors are to the kernel; one name each.
  void label_inputs(const std::vector<at::Tensor>& inputs, const std::vector<std::string>& names);
  /// A failed launch that the kernel did not ask after, and forgets it; "" = none.
  std::string unread_error() { return device_ ? device_->unread_error() : ""; }
  /// Waits for the kernel. Does not return when the device is lost or memory around its blocks is damaged
  /// (GateDevice::open()); of the CPU's memory, returns the damage.
  std::vector<MemoryFault> end_run();

  /// Can its elements be compared here?
  bool is_readable(const at::Tensor& tensor) const;
  /// Of the whole storage; empty where there is none.
  std::vector<char> storage_bytes(const at::Tensor& tensor) const;
  /// Of the elements in order, whatever the strides. It must be readable.
  std::vector<char> element_bytes(const at::Tensor& tensor) const;

 private:
  GuardAllocator& host_;
  DeviceRuntime* device_;
};

}  // namespace aotifuzz
