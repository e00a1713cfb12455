#include "worker/cuda/launch_observer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

/// Not loaded through cuModuleGetFunction.
constexpr std::string_view kNameless = "a kernel without a name";

}  // namespace

LaunchObserver& LaunchObserver::instance() {
  static LaunchObserver* const once = new LaunchObserver();  // never destroyed: packages outlive main
  return *once;
}

void LaunchObserver::begin_run(bool wait) {
  wait_ = wait;
  launches_ = 0;
  last_ = {};
  if (recorder_) recorder_->begin_run();
}

CUresult LaunchObserver::wait_for_device() const { return wait_ ? CudaDriver::get().synchronize() : CUDA_SUCCESS; }

void LaunchObserver::begin_launch(CUfunction function) {
  ++launches_;
  const auto name = names_.find(function);
  last_ = name == names_.end() ? kNameless : std::string_view(name->second.name);
  if (!recorder_) return;
  char text[sizeof(recorder_->step)];
  std::snprintf(text, sizeof(text), "launch %d: %.*s", launches_, static_cast<int>(last_.size()), last_.data());
  recorder_->set_step(text);
}

/// For the parent: which of the run's launches this is, and what it may touch.
void LaunchObserver::record_call(CUfunction function, void** parameters) {
  if (!recorder_) return;
  FlightRecorder& recorder = *recorder_;
  if (const auto named = names_.find(function); named != names_.end()) {
    int& kernel = named->second.kernel;
    if (kernel < 0 && recorder.kernel_count < static_cast<int32_t>(FlightRecorder::kKernels)) {
      kernel = recorder.kernel_count;
      const std::string& name = named->second.name;
      const size_t n = std::min(name.size(), FlightRecorder::kKernelNameMax - 1);
      std::memcpy(recorder.kernels[kernel], name.data(), n);
      recorder.kernels[kernel][n] = '\0';
      ++recorder.kernel_count;
    }
    if (launches_ <= static_cast<int>(FlightRecorder::kCalls))
      recorder.call_kernels[launches_ - 1] = static_cast<uint16_t>(kernel < 0 ? UINT16_MAX : kernel);
  }
  std::fill(std::begin(recorder.call_words), std::end(recorder.call_words), 0);
  const std::vector<size_t>& bytes = parameter_bytes(function);
  for (size_t i = 0; parameters && i < std::min(bytes.size(), FlightRecorder::kCallWords); ++i)
    std::memcpy(&recorder.call_words[i], parameters[i], std::min(bytes[i], sizeof(uint64_t)));
  recorder.calls.store(launches_, std::memory_order_relaxed);
  recorder.call_running.store(1, std::memory_order_release);
}

/// Empty where the driver does not say.
const std::vector<size_t>& LaunchObserver::parameter_bytes(CUfunction function) {
  std::optional<std::vector<size_t>>& known =
      names_.try_emplace(function, Named{std::string(kNameless)}).first->second.parameter_bytes;
  if (known) return *known;
  known.emplace();
  size_t offset = 0, bytes = 0;
  if (const auto info = CudaDriver::get().parameter_info)
    for (size_t i = 0; info(function, i, &offset, &bytes) == CUDA_SUCCESS; ++i) known->push_back(bytes);
  return *known;
}

KernelCall LaunchObserver::call_of(CUfunction function, void** parameters, const LaunchShape& shape) {
  constexpr size_t kIntegers = 6;  // of KernelCall; what follows is its stack
  const std::vector<size_t>& bytes = parameter_bytes(function);
  words_.assign(std::max(kIntegers, bytes.size()), 0);
  for (size_t i = 0; parameters && i < bytes.size(); ++i)
    std::memcpy(&words_[i], parameters[i], std::min(bytes[i], sizeof(uint64_t)));
  KernelCall call;
  call.name = last_;
  call.integers = words_.data();
  call.stack = words_.data() + kIntegers;
  call.stack_words = words_.size() - kIntegers;
  call.launch = &shape;
  return call;
}

void LaunchObserver::end_launch() {
  if (!recorder_) return;
  recorder_->call_running.store(0, std::memory_order_release);
  char text[sizeof(recorder_->step)];
  std::snprintf(text, sizeof(text), "a library's kernel after launch %d: %.*s", launches_,
                static_cast<int>(last_.size()), last_.data());
  recorder_->set_step(text);
}

CUresult LaunchObserver::load_module(CUmodule* module, const char* path) const {
  const CudaDriver& driver = CudaDriver::get();
  const auto kept = modules_.find(path ? path : "");
  return kept == modules_.end() ? driver.module_load(module, path)
                                : driver.module_load_data(module, kept->second.data());
}

}  // namespace aotifuzz

using aotifuzz::CudaDriver;
using aotifuzz::LaunchObserver;
using aotifuzz::LaunchShape;

extern "C" {

CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* path) {
  return LaunchObserver::instance().load_module(module, path);
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const CUresult result = CudaDriver::get().module_function(function, module, name);
  if (result == CUDA_SUCCESS) LaunchObserver::instance().named(*function, name);
  return result;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                CUstream stream, void** parameters, void** extra) {
  const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
  return LaunchObserver::instance().launch(function, parameters, shape, [&] {
    return CudaDriver::get().launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                                           stream, parameters, extra);
  });
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  const LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                          {config->blockDimX, config->blockDimY, config->blockDimZ},
                          config->sharedMemBytes};
  return LaunchObserver::instance().launch(function, parameters, shape, [&] {
    return CudaDriver::get().launch_kernel_ex(config, function, parameters, extra);
  });
}

}  // extern "C"
