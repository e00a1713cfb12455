#pragma once

#include <cuda.h>

#include <string>

namespace aotifuzz {

/// The driver API, looked up in libcuda.so.1 at run time: a program that links it does not start where there is no
/// driver, and some of its names are ours (launch_observer.h).
struct CudaDriver {
  decltype(&cuInit) init;
  decltype(&cuDriverGetVersion) driver_version;
  decltype(&cuDeviceGetCount) device_count;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDeviceGetName) device_name;
  decltype(&cuDeviceGetAttribute) device_attribute;
  decltype(&cuDevicePrimaryCtxRetain) primary_context;
  decltype(&cuCtxSetCurrent) set_context;
  decltype(&cuCtxSynchronize) synchronize;
  decltype(&cuGetErrorString) error_string;
  decltype(&cuMemGetAllocationGranularity) granularity;
  decltype(&cuMemAddressReserve) address_reserve;
  decltype(&cuMemAddressFree) address_free;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  decltype(&cuMemGetInfo) memory_info;
  decltype(&cuMemsetD8Async) memset8;
  decltype(&cuMemcpyDtoHAsync) copy_to_host;
  decltype(&cuMemcpyDtoDAsync) copy_on_device;
  decltype(&cuMemAlloc) allocate;
  decltype(&cuMemFree) free;
  decltype(&cuMemGetAddressRange) address_range;
  decltype(&cuMemHostAlloc) host_alloc;
  decltype(&cuModuleLoad) module_load;
  decltype(&cuModuleLoadData) module_load_data;
  decltype(&cuModuleGetFunction) module_function;
  decltype(&cuLaunchKernel) launch_kernel;
  decltype(&cuLaunchKernelEx) launch_kernel_ex;
  decltype(&cuFuncGetParamInfo) parameter_info;  ///< null: older than 12.4, so nobody knows what a launch is given

  /// Null where there is no driver; then `why` says what the system said.
  static const CudaDriver* find(std::string* why = nullptr);
  /// For code that runs only after find() succeeded.
  static const CudaDriver& get();

  std::string error_text(CUresult code) const;
};

}  // namespace aotifuzz
