#include "gate/cuda/cuda_gate_device.h"

#include <stdlib.h>

#include <exception>

#include "worker/cuda/cuda_driver.h"
#include "worker/cuda/cuda_runtime.h"

namespace aotifuzz {
namespace {

GateDevice::Lost lost_device;

/// An address that is no element's multiple is the kernel's own arithmetic, and may lie within a buffer.
void lose(const DeviceFault& fault) {
  lost_device(fault.name, fault.memory_fault && fault.name != "misaligned address");
}

/// What is thrown where nobody catches it may come of a device that is lost.
[[noreturn]] void on_terminate() {
  if (const CudaDriver* driver = CudaDriver::find())
    if (const CUresult code = driver->synchronize(); code != CUDA_SUCCESS) lose(fault_of(code));
  abort();
}

}  // namespace

std::unique_ptr<DeviceRuntime> CudaGateDevice::open(FlightRecorder* recorder, Lost lost) {
  lost_device = std::move(lost);
  CudaRuntime::Setup setup;
  setup.device = name_;
  setup.recorder = recorder;
  setup.on_fault = lose;
  auto runtime = std::make_unique<CudaRuntime>(std::move(setup));
  std::set_terminate(on_terminate);
  return runtime;
}

}  // namespace aotifuzz
