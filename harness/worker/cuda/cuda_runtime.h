#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/flight_recorder.h"
#include "worker/cuda/cuda_device.h"
#include "worker/cuda/cuda_error.h"
#include "worker/cuda/cuda_guard_allocator.h"
#include "worker/device_runtime.h"

namespace aotifuzz {

/// One GPU as a worker uses it. Creates the context, installs the guard allocator, watches launches.
class CudaRuntime final : public DeviceRuntime {
 public:
  struct Setup {
    std::string device;           ///< "cuda:0"
    bool guard_allocator = true;  ///< else torch's own
    int64_t memory_mib = 0;       ///< that blocks may take beyond what the loaded package does; 0 = no limit
    FlightRecorder* recorder = nullptr;
    /// Called once, when the device is lost; must not return.
    std::function<void(const DeviceFault&)> on_fault;
  };
  /// Before torch touches the device. Throws HarnessError where there is no such device.
  explicit CudaRuntime(Setup setup);

  c10::Device device() const override;
  std::string description() const override;
  void require(const std::string& compute_capability, const std::string& package) const override;
  void keep_files(const std::vector<std::string>& folders) override;
  void warm_up() override;
  void label(const void* address, BufferRole role, std::string_view name) override;
  bool make_read_only(const void* address) override;
  void fetch(std::span<const Fetch> pieces) override;
  std::string unread_error() override;
  std::unique_ptr<Snapshots> make_snapshots() const override;
  void touch(const void* address, bool write) override;
  void begin_case(bool careful) override { careful_ = careful; }
  void begin_run(const DeviceRun& run) override;
  void end_run() override;

  /// The limit counts from here on.
  void package_loaded();

 private:
  void say_step(const std::string& text) const;

  Setup setup_;
  CudaDevice device_;
  CudaGuardAllocator* allocator_ = nullptr;  ///< null: torch's own
  bool careful_ = false;
  char* landing_ = nullptr;  ///< page-locked memory that copies to the host go through; made when first needed
};

}  // namespace aotifuzz
