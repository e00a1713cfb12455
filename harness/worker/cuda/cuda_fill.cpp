#include "worker/cuda/cuda_fill.h"

#include "core/check.h"
#include "worker/cuda/cuda_driver.h"

namespace aotifuzz {
namespace {

constexpr unsigned kThreads = 256;

/// One block of threads for each range, 16 bytes a thread and turn. As text: the driver compiles it for any GPU.
constexpr const char* kSource = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 ranges, .param .u32 pattern)
{
  .reg .pred %done;
  .reg .b32 %word, %block, %thread, %threads;
  .reg .b64 %range, %offset, %start, %bytes, %at, %step;
  ld.param.u64 %range, [ranges];
  ld.param.u32 %word, [pattern];
  cvta.to.global.u64 %range, %range;
  mov.u32 %block, %ctaid.x;
  mul.wide.u32 %offset, %block, 16;
  add.s64 %range, %range, %offset;
  ld.global.u64 %start, [%range];
  ld.global.u64 %bytes, [%range+8];
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %offset, %thread, 16;
  mov.u32 %threads, %ntid.x;
  mul.wide.u32 %step, %threads, 16;
NEXT:
  setp.ge.u64 %done, %offset, %bytes;
  @%done bra END;
  add.s64 %at, %start, %offset;
  st.global.v4.u32 [%at], {%word, %word, %word, %word};
  add.s64 %offset, %offset, %step;
  bra.uni NEXT;
END:
  ret;
}
)";

}  // namespace

CudaFill::CudaFill() {
  const CudaDriver& driver = CudaDriver::get();
  CUmodule module = nullptr;
  CUresult code = driver.module_load_data(&module, kSource);
  if (code == CUDA_SUCCESS) code = driver.module_function(&function_, module, "fill");
  if (code == CUDA_SUCCESS)
    code = driver.host_alloc(reinterpret_cast<void**>(&ranges_), kRangesMax * sizeof(Range), CU_MEMHOSTALLOC_DEVICEMAP);
  AOTIFUZZ_CHECK(code == CUDA_SUCCESS) << driver.error_text(code);
}

bool CudaFill::add(CUdeviceptr start, size_t bytes) {
  if (count_ == kRangesMax) return false;
  ranges_[count_++] = {start, bytes};
  return true;
}

void CudaFill::launch(uint8_t pattern) {
  if (count_ == 0) return;
  uint64_t ranges = reinterpret_cast<uint64_t>(ranges_);
  uint32_t word = pattern * 0x01010101u;
  void* arguments[] = {&ranges, &word};
  CudaDriver::get().launch_kernel(function_, count_, 1, 1, kThreads, 1, 1, 0, nullptr, arguments, nullptr);
  count_ = 0;
}

}  // namespace aotifuzz
