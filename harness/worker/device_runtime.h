#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/flight_recorder.h"
#include "worker/snapshots.h"

namespace aotifuzz {

/// Memory of the device during one run.
struct DeviceRun {
  uint8_t poison = 0xA5;       ///< what fresh memory is filled with
  bool at_start = false;       ///< blocks start, not end, against inaccessible memory
  bool protect_freed = false;  ///< what is freed becomes inaccessible until the run ends
  bool canaries = false;       ///< bytes between a block and the guard behind it are checked
};

/// The device that a package runs on, as far as serving cases must know it; packages of the CPU have none. Everything
/// here is CUDA-free, so that the worker of CPU packages links none of it. Not thread-safe.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  virtual c10::Device device() const = 0;
  /// For people: "cuda:0 NVIDIA H200, compute capability 9.0".
  virtual std::string description() const = 0;
  /// Throws HarnessError when the device cannot run what was compiled for `compute_capability` ("90"; "" = not known).
  virtual void require(const std::string& compute_capability, const std::string& package) const = 0;
  /// Called once the package is loaded and before its unpacked `folders` go: what it reads later must be kept.
  virtual void keep_files(const std::vector<std::string>& folders) = 0;
  /// Creates what the first run would otherwise wait for: handles of libraries, kernels of common ops.
  virtual void warm_up() = 0;

  /// What the block that starts at `address` is to the package. Blocks that no guard laid out are left alone.
  virtual void label(const void* address, BufferRole role, std::string_view name) {}
  /// Writes to that block fault from now on. False: they do not.
  virtual bool make_read_only(const void* address) { return false; }

  /// A piece of device memory and where it is wanted on the host.
  struct Fetch {
    const void* from = nullptr;
    void* to = nullptr;
    size_t bytes = 0;
  };
  /// Copies all of them with one wait for the device.
  virtual void fetch(std::span<const Fetch> pieces) = 0;

  /// A failed launch that nobody asked after yet, in words, and forgets it: the next caller of the runtime would get it
  /// for an error of its own. "" = none. Of the runtime that torch itself is linked with.
  virtual std::string unread_error() { return ""; }

  /// Copies of the device's memory; this must outlive them.
  virtual std::unique_ptr<Snapshots> make_snapshots() const = 0;

  /// One thread of the device reads or writes the byte at `address`, whoever it belongs to.
  virtual void touch(const void* address, bool write) = 0;

  /// Careful: waits after each launch, so that a fault is pinned to the kernel that made it.
  virtual void begin_case(bool careful) = 0;
  virtual void begin_run(const DeviceRun& run) = 0;
  /// Waits for all work of the run. Does not return when the device reports a fault or memory around a block was
  /// overwritten: the process says so to its parent and ends, since its context is lost.
  virtual void end_run() = 0;
};

}  // namespace aotifuzz
