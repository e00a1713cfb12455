#include "worker/cuda/cuda_error.h"

#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {

DeviceFault fault_of(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return {"illegal memory access", true};
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return {"misaligned address", true};
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
      return {"invalid address space", true};
    case CUDA_ERROR_ASSERT:
      return {"device-side assert", false};
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
      return {"stack error", false};
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
      return {"illegal instruction", false};
    case CUDA_ERROR_INVALID_PC:
      return {"invalid program counter", false};
    case CUDA_ERROR_LAUNCH_FAILED:
      return {"launch failure", false};
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      return {"launch timeout", false};
    default:
      return {CudaDriver::get().error_text(code), false};
  }
}

}  // namespace aotifuzz
