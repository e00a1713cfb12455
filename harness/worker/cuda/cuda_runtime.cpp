#include "worker/cuda/cuda_runtime.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/error.h"
#include "worker/cuda/cuda_driver.h"
#include "worker/cuda/device_snapshots.h"
#include "worker/cuda/launch_observer.h"

namespace aotifuzz {
namespace {

/// For the driver's own compiler; sm_75 is the oldest that CUDA 13 knows.
constexpr const char* kTouchKernel = R"(
.version 6.3
.target sm_75
.address_size 64
.visible .entry touch(.param .u64 address, .param .u32 write)
{
  .reg .u64 %a;
  .reg .u32 %w;
  .reg .u16 %v;
  .reg .pred %p;
  ld.param.u64 %a, [address];
  ld.param.u32 %w, [write];
  setp.ne.u32 %p, %w, 0;
  @%p bra WRITE;
  ld.volatile.global.u8 %v, [%a];
  bra END;
WRITE:
  mov.u16 %v, 1;
  st.volatile.global.u8 [%a], %v;
END:
  ret;
}
)";

/// What copies to the host go through.
constexpr size_t kLandingBytes = size_t{4} << 20;

void must(CUresult code, const char* call) {
  if (code != CUDA_SUCCESS)
    throw HarnessError(std::string(call) + " failed: " + CudaDriver::get().error_text(code), "the device",
                       "check nvidia-smi, and that the driver knows PTX 6.3 (CUDA 10 and newer)");
}

}  // namespace

CudaRuntime::CudaRuntime(Setup setup) : setup_(std::move(setup)), device_(find_cuda_device(setup_.device)) {
  const CudaDriver& driver = CudaDriver::get();
  CUdevice handle = 0;
  CUcontext context = nullptr;
  CUresult code = driver.device_get(&handle, device_.index);
  if (code == CUDA_SUCCESS) code = driver.primary_context(&context, handle);
  if (code == CUDA_SUCCESS) code = driver.set_context(context);
  if (code != CUDA_SUCCESS)
    throw HarnessError("the device cannot be used: " + driver.error_text(code), setup_.device + " " + device_.name,
                       "check nvidia-smi: is its memory full, or is it set to exclusive use by one process?");
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(device_.index));
  LaunchObserver::instance().set_recorder(setup_.recorder);
  if (setup_.guard_allocator) allocator_ = &CudaGuardAllocator::install(device_.index, setup_.recorder);
}

c10::Device CudaRuntime::device() const {
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device_.index));
}

std::string CudaRuntime::description() const {
  return device().str() + " " + device_.name + ", compute capability " + device_.capability();
}

void CudaRuntime::require(const std::string& compute_capability, const std::string& package) const {
  if (const std::string why = why_not_runnable(device_, compute_capability); !why.empty())
    throw HarnessError("the package was compiled for another GPU: " + why, package,
                       "compile it on this GPU, or choose another with --device cuda:N");
}

void CudaRuntime::keep_files(const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".cubin") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      LaunchObserver::instance().keep_module(entry.path().string(), {std::istreambuf_iterator<char>(in), {}});
    }
  }
}

void CudaRuntime::warm_up() {
  const at::TensorOptions options = at::TensorOptions(at::kFloat).device(device());
  const at::Tensor a = at::ones({16, 16}, options);
  const at::Tensor b = (a.mm(a) + a).softmax(-1).sum();
  AOTIFUZZ_CHECK(b.item<float>() > 0);
}

void CudaRuntime::label(const void* address, BufferRole role, std::string_view name) {
  if (allocator_) allocator_->label(address, role, name);
}

bool CudaRuntime::make_read_only(const void* address) { return allocator_ && allocator_->make_read_only(address); }

/// A copy into ordinary memory waits for the device each time, one into page-locked memory does not. What does not fit
/// there waits.
void CudaRuntime::fetch(std::span<const Fetch> pieces) {
  const CudaDriver& driver = CudaDriver::get();
  if (!landing_) must(driver.host_alloc(reinterpret_cast<void**>(&landing_), kLandingBytes, 0), "cuMemHostAlloc");
  const CUstream stream = c10::cuda::getCurrentCUDAStream(device().index()).stream();
  size_t used = 0;
  std::vector<std::pair<const Fetch*, const char*>> landed;
  for (const Fetch& piece : pieces) {
    if (piece.bytes == 0) continue;
    const bool fits = piece.bytes <= kLandingBytes - used;
    char* const to = fits ? landing_ + used : static_cast<char*>(piece.to);
    must(driver.copy_to_host(to, reinterpret_cast<CUdeviceptr>(piece.from), piece.bytes, stream), "cuMemcpyDtoH");
    if (!fits) continue;
    landed.emplace_back(&piece, to);
    used += piece.bytes;
  }
  must(driver.synchronize(), "cuCtxSynchronize");
  for (const auto& [piece, from] : landed) std::memcpy(piece->to, from, piece->bytes);
}

/// Looked up, as we link no CUDA runtime: torch's is loaded.
std::string CudaRuntime::unread_error() {
  static const auto last_error = reinterpret_cast<decltype(&cudaGetLastError)>(dlsym(RTLD_DEFAULT, "cudaGetLastError"));
  static const auto text_of =
      reinterpret_cast<decltype(&cudaGetErrorString)>(dlsym(RTLD_DEFAULT, "cudaGetErrorString"));
  if (!last_error || !text_of) return "";
  const cudaError_t code = last_error();
  return code == cudaSuccess ? "" : text_of(code);
}

std::unique_ptr<Snapshots> CudaRuntime::make_snapshots() const {
  return std::make_unique<DeviceSnapshots>(device(), allocator_);
}

void CudaRuntime::touch(const void* address, bool write) {
  const CudaDriver& driver = CudaDriver::get();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  must(driver.module_load_data(&module, kTouchKernel), "cuModuleLoadData");
  must(driver.module_function(&function, module, "touch"), "cuModuleGetFunction");
  unsigned flag = write;
  void* arguments[] = {&address, &flag};
  must(driver.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
}

void CudaRuntime::package_loaded() {
  if (allocator_ && setup_.memory_mib > 0)
    allocator_->limit(allocator_->bytes_held() + (static_cast<size_t>(setup_.memory_mib) << 20));
}

void CudaRuntime::begin_run(const DeviceRun& run) {
  if (allocator_) allocator_->begin_run(run);
  LaunchObserver::instance().begin_run(careful_);
}

void CudaRuntime::end_run() {
  if (allocator_) allocator_->queue_checks();
  if (const CUresult code = CudaDriver::get().synchronize(); code != CUDA_SUCCESS) {
    const int launches = LaunchObserver::instance().launches();
    if (!careful_ && launches > 0) say_step("one of " + std::to_string(launches) + " launches");
    setup_.on_fault(fault_of(code));
  }
  if (!allocator_) return;
  if (const auto damage = allocator_->end_run()) {
    say_step(*damage);
    setup_.on_fault({"write past the end of a buffer", true});
  }
}

void CudaRuntime::say_step(const std::string& text) const {
  if (setup_.recorder) setup_.recorder->set_step(text);
}

}  // namespace aotifuzz
