#pragma once

#include <c10/core/DispatchKey.h>

#include <functional>
#include <memory>
#include <string>

#include "core/flight_recorder.h"
#include "worker/device_runtime.h"

namespace aotifuzz {

/// The device whose kernels a gate judges, where that is not the CPU. The program brings it, so that no other program
/// loads CUDA (gate/cuda/).
class GateDevice {
 public:
  /// Is told the device's error, and whether it means that memory was touched that is nobody's; must not return.
  using Lost = std::function<void(const std::string& error, bool outside_buffers)>;

  virtual ~GateDevice() = default;
  /// "cuda:0".
  virtual std::string name() const = 0;
  /// Under which the dispatcher knows its kernels.
  virtual c10::DispatchKey key() const = 0;
  /// Gets it ready, with guarded memory that `recorder` (may be null) is told of. At most once a process, which must
  /// not fork from then on. Throws HarnessError where it cannot be used. `lost` is called once, when an error of the
  /// device, or damage around a buffer, ends what this process can do.
  virtual std::unique_ptr<DeviceRuntime> open(FlightRecorder* recorder, Lost lost) = 0;
};

}  // namespace aotifuzz
