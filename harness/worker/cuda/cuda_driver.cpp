#include "worker/cuda/cuda_driver.h"

#include <dlfcn.h>

#include <optional>

#include "core/check.h"

namespace aotifuzz {
namespace {

struct Loaded {
  std::optional<CudaDriver> driver;
  std::string why;
};

#define AOTIFUZZ_NAME(function) AOTIFUZZ_TEXT(function)
#define AOTIFUZZ_TEXT(function) #function

Loaded load() {
  Loaded out;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char* error = dlerror();
    out.why = error ? error : "libcuda.so.1 cannot be loaded";
    return out;
  }
  CudaDriver driver{};
  const auto find = [&](auto& member, const char* name) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, name));
    if (!member && out.why.empty()) out.why = std::string("the driver has no ") + name;
  };
  // The header's macros turn a name into the version that was declared: cuMemGetInfo is cuMemGetInfo_v2.
  find(driver.init, AOTIFUZZ_NAME(cuInit));
  find(driver.driver_version, AOTIFUZZ_NAME(cuDriverGetVersion));
  find(driver.device_count, AOTIFUZZ_NAME(cuDeviceGetCount));
  find(driver.device_get, AOTIFUZZ_NAME(cuDeviceGet));
  find(driver.device_name, AOTIFUZZ_NAME(cuDeviceGetName));
  find(driver.device_attribute, AOTIFUZZ_NAME(cuDeviceGetAttribute));
  find(driver.primary_context, AOTIFUZZ_NAME(cuDevicePrimaryCtxRetain));
  find(driver.set_context, AOTIFUZZ_NAME(cuCtxSetCurrent));
  find(driver.synchronize, AOTIFUZZ_NAME(cuCtxSynchronize));
  find(driver.error_string, AOTIFUZZ_NAME(cuGetErrorString));
  find(driver.granularity, AOTIFUZZ_NAME(cuMemGetAllocationGranularity));
  find(driver.address_reserve, AOTIFUZZ_NAME(cuMemAddressReserve));
  find(driver.address_free, AOTIFUZZ_NAME(cuMemAddressFree));
  find(driver.create, AOTIFUZZ_NAME(cuMemCreate));
  find(driver.release, AOTIFUZZ_NAME(cuMemRelease));
  find(driver.map, AOTIFUZZ_NAME(cuMemMap));
  find(driver.unmap, AOTIFUZZ_NAME(cuMemUnmap));
  find(driver.set_access, AOTIFUZZ_NAME(cuMemSetAccess));
  find(driver.memory_info, AOTIFUZZ_NAME(cuMemGetInfo));
  find(driver.memset8, AOTIFUZZ_NAME(cuMemsetD8Async));
  find(driver.copy_to_host, AOTIFUZZ_NAME(cuMemcpyDtoHAsync));
  find(driver.copy_on_device, AOTIFUZZ_NAME(cuMemcpyDtoDAsync));
  find(driver.allocate, AOTIFUZZ_NAME(cuMemAlloc));
  find(driver.free, AOTIFUZZ_NAME(cuMemFree));
  find(driver.address_range, AOTIFUZZ_NAME(cuMemGetAddressRange));
  find(driver.host_alloc, AOTIFUZZ_NAME(cuMemHostAlloc));
  find(driver.module_load, AOTIFUZZ_NAME(cuModuleLoad));
  find(driver.module_load_data, AOTIFUZZ_NAME(cuModuleLoadData));
  find(driver.module_function, AOTIFUZZ_NAME(cuModuleGetFunction));
  find(driver.launch_kernel, AOTIFUZZ_NAME(cuLaunchKernel));
  find(driver.launch_kernel_ex, AOTIFUZZ_NAME(cuLaunchKernelEx));
  driver.parameter_info =
      reinterpret_cast<decltype(driver.parameter_info)>(dlsym(library, AOTIFUZZ_NAME(cuFuncGetParamInfo)));
  if (out.why.empty()) out.driver = driver;
  return out;
}

#undef AOTIFUZZ_NAME
#undef AOTIFUZZ_TEXT

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const CudaDriver* CudaDriver::find(std::string* why) {
  if (why) *why = loaded().why;
  return loaded().driver ? &*loaded().driver : nullptr;
}

const CudaDriver& CudaDriver::get() {
  AOTIFUZZ_CHECK(loaded().driver.has_value()) << loaded().why;
  return *loaded().driver;
}

std::string CudaDriver::error_text(CUresult code) const {
  const char* text = nullptr;
  return error_string(code, &text) == CUDA_SUCCESS && text ? text : "CUDA error " + std::to_string(code);
}

}  // namespace aotifuzz
