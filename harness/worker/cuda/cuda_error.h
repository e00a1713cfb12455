#pragma once

#include <cuda.h>

#include <string>

namespace aotifuzz {

/// An error of the device that ends the process: what campaign/triage.cpp judges.
struct DeviceFault {
  std::string name;           ///< stable, for signatures: "illegal memory access"
  bool memory_fault = false;  ///< memory was touched that is not the toucher's
};

/// What a failed synchronisation means. The table is in the .cpp file; other codes get the driver's own text.
DeviceFault fault_of(CUresult code);

}  // namespace aotifuzz
