#include "worker/cuda/launch_observer.h"

#include <cstdio>

#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {

LaunchObserver& LaunchObserver::instance() {
  static LaunchObserver* const once = new LaunchObserver();  // never destroyed: packages outlive main
  return *once;
}

void LaunchObserver::begin_run(bool wait) {
  wait_ = wait;
  launches_ = 0;
  last_ = {};
}

CUresult LaunchObserver::wait_for_device() const { return wait_ ? CudaDriver::get().synchronize() : CUDA_SUCCESS; }

void LaunchObserver::begin_launch(CUfunction function) {
  ++launches_;
  const auto name = names_.find(function);
  last_ = name == names_.end() ? std::string_view("a kernel without a name") : std::string_view(name->second);
  if (!recorder_) return;
  char text[sizeof(recorder_->step)];
  std::snprintf(text, sizeof(text), "launch %d: %.*s", launches_, static_cast<int>(last_.size()), last_.data());
  recorder_->set_step(text);
}

void LaunchObserver::end_launch() {
  if (!recorder_) return;
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
  return LaunchObserver::instance().launch(function, [&] {
    return CudaDriver::get().launch_kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                                           stream, parameters, extra);
  });
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return LaunchObserver::instance().launch(
      function, [&] { return CudaDriver::get().launch_kernel_ex(config, function, parameters, extra); });
}

}  // extern "C"
