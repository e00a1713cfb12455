#pragma once

#include <string>

namespace aotifuzz {

/// A GPU of this machine.
struct CudaDevice {
  int index = 0;
  std::string name;  ///< "NVIDIA H200"
  int major = 0, minor = 0;

  std::string capability() const { return std::to_string(major) + "." + std::to_string(minor); }
};

/// Finds the device of a name such as "cuda:0" without creating a context. Throws HarnessError that says what is
/// missing: driver, device, or that device.
CudaDevice find_cuda_device(const std::string& name);

/// Can `device` run code compiled for `compiled_for` ("90", also "90a"; "" = not known)? "" when it can, else why not.
/// A cubin runs on its own major version from its own minor version on; one for an "a" target on that version alone.
std::string why_not_runnable(const CudaDevice& device, const std::string& compiled_for);

}  // namespace aotifuzz
