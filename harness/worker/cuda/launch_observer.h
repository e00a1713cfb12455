#pragma once

#include <cuda.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/flight_recorder.h"
#include "worker/kernel_calls.h"

namespace aotifuzz {

/// Sees the kernels that a package launches. A package's library looks up cuModuleLoad, cuModuleGetFunction,
/// cuLaunchKernel and cuLaunchKernelEx through the program that loaded it, and finds those in launch_observer.cpp,
/// which call the driver's own. So the program must export its symbols. Kernels of libraries (cuBLAS, ATen) are
/// launched past it. Not thread-safe: a run launches from one thread.
class LaunchObserver {
 public:
  static LaunchObserver& instance();

  void set_recorder(FlightRecorder* recorder) { recorder_ = recorder; }
  /// `wait`: for the device, before and after each launch: the step that the recorder then holds is where a fault was
  /// made, and its call words are the pointers that the launch was given.
  void begin_run(bool wait);
  int launches() const { return launches_; }  ///< of this run

  /// Modules that are loaded later from files that will be gone by then.
  void keep_module(const std::string& path, std::vector<char> bytes) { modules_[path] = std::move(bytes); }

  // Called by the names that stand in for the driver's.
  CUresult load_module(CUmodule* module, const char* path) const;
  void named(CUfunction function, const char* name) { names_[function] = {name}; }
  /// `parameters` as the driver takes them; null where they are given otherwise. A KernelObserver, if there is one, is
  /// told too.
  template <class Launch>
  CUresult launch(CUfunction function, void** parameters, const LaunchShape& shape, Launch real) {
    if (const CUresult before = wait_for_device(); before != CUDA_SUCCESS) return before;
    begin_launch(function);
    if (wait_) record_call(function, parameters);
    KernelObserver* const observer = KernelCalls::instance().observer();
    const KernelCall call = observer ? call_of(function, parameters, shape) : KernelCall();
    if (observer) observer->before(call);
    const CUresult launched = real();
    if (observer) observer->after(call);
    if (launched != CUDA_SUCCESS || !wait_) return launched;
    const CUresult after = wait_for_device();
    if (after == CUDA_SUCCESS) end_launch();
    return after;
  }

 private:
  CUresult wait_for_device() const;
  void begin_launch(CUfunction function);
  void record_call(CUfunction function, void** parameters);
  KernelCall call_of(CUfunction function, void** parameters, const LaunchShape& shape);
  void end_launch();

  struct Named {
    std::string name;
    int kernel = -1;  ///< its place in the recorder's list; -1 = none yet
    std::optional<std::vector<size_t>> parameter_bytes = {};  ///< asked for at the first launch that needs it
  };
  const std::vector<size_t>& parameter_bytes(CUfunction function);

  FlightRecorder* recorder_ = nullptr;
  bool wait_ = false;
  int launches_ = 0;
  std::string_view last_;
  std::unordered_map<CUfunction, Named> names_;
  std::vector<uint64_t> words_;  ///< of the launch that an observer sees
  std::map<std::string, std::vector<char>> modules_;  ///< by path
};

}  // namespace aotifuzz
