#pragma once

#include <string>

#include "gate/gate_device.h"

namespace aotifuzz {

/// One GPU: tensors of the kernels lie in slots of the CUDA guard allocator.
class CudaGateDevice final : public GateDevice {
 public:
  /// "cuda:0", or "cuda" for the first.
  explicit CudaGateDevice(std::string name) : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  c10::DispatchKey key() const override { return c10::DispatchKey::CUDA; }
  std::unique_ptr<DeviceRuntime> open(FlightRecorder* recorder, Lost lost) override;

 private:
  std::string name_;
};

}  // namespace aotifuzz
