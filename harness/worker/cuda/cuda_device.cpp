#include "worker/cuda/cuda_device.h"

#include <charconv>

#include "core/error.h"
#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

int index_of(const std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return 0;
  int index = -1;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + colon + 1, end, index);
  return error == std::errc() && stop == end ? index : -1;
}

}  // namespace

CudaDevice find_cuda_device(const std::string& name) {
  std::string why;
  const CudaDriver* driver = CudaDriver::find(&why);
  if (!driver)
    throw HarnessError("there is no CUDA driver: " + why, name,
                       "run it on a machine with an NVIDIA GPU and its driver");
  if (const CUresult code = driver->init(0); code != CUDA_SUCCESS)
    throw HarnessError("the CUDA driver finds no device it can use: " + driver->error_text(code), name,
                       "check nvidia-smi and CUDA_VISIBLE_DEVICES; in a container, that it was given the GPU");
  int count = 0;
  driver->device_count(&count);
  CudaDevice device;
  device.index = index_of(name);
  if (device.index < 0 || device.index >= count)
    throw HarnessError("there is no such device: this machine has " + std::to_string(count), name,
                       "give --device cuda:N with N below " + std::to_string(count));
  CUdevice handle = 0;
  driver->device_get(&handle, device.index);
  char text[256] = {};
  driver->device_name(text, sizeof(text) - 1, handle);
  device.name = text;
  driver->device_attribute(&device.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle);
  driver->device_attribute(&device.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle);
  return device;
}

std::string why_not_runnable(const CudaDevice& device, const std::string& compiled_for) {
  std::string digits = compiled_for;
  const bool exact = !digits.empty() && digits.back() == 'a';
  if (exact) digits.pop_back();
  int version = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  if (error != std::errc() || stop != digits.data() + digits.size() || version < 10) return "";
  const int major = version / 10, minor = version % 10;
  const bool runs = major == device.major && (exact ? minor == device.minor : minor <= device.minor);
  if (runs) return "";
  return "it holds code for compute capability " + std::to_string(major) + "." + std::to_string(minor) + ", and " +
         device.name + " has " + device.capability();
}

}  // namespace aotifuzz
