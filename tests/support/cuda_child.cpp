#include "tests/support/cuda_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "core/check.h"
#include "worker/cuda/cuda_device.h"
#include "worker/cuda/cuda_driver.h"

namespace aotifuzz::test {
namespace {

// Each child has a context of some 500 MiB on the device.
constexpr size_t kAtATime = 8;

constexpr const char* kPoke = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry poke(.param .u64 start, .param .u64 offset, .param .u32 write, .param .u64 out)
{
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %r;
  .reg .b64 %a, %o, %t;
  ld.param.u64 %a, [start];
  ld.param.u64 %o, [offset];
  ld.param.u32 %r, [write];
  ld.param.u64 %t, [out];
  add.s64 %a, %a, %o;
  setp.eq.s32 %p, %r, 0;
  @%p bra READ;
  mov.u16 %h, 1;
  st.global.u8 [%a], %h;
  bra.uni DONE;
READ:
  ld.global.u8 %h, [%a];
  st.global.u8 [%t], %h;
DONE:
  ret;
}
)";

pid_t start(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  int code = 255;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  std::fflush(nullptr);
  _exit(code);
}

int result_of(int status) { return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1; }

void check(CUresult code) { AOTIFUZZ_CHECK(code == CUDA_SUCCESS) << CudaDriver::get().error_text(code); }

}  // namespace

std::string why_no_cuda() {
  std::string why;
  if (!CudaDriver::find(&why)) return why;
  static const bool found = in_child([] {
                              find_cuda_device("cuda:0");
                              return 0;
                            }) == 0;
  return found ? "" : "the driver finds none";
}

int in_child(const std::function<int()>& body) { return in_children({body}).front(); }

std::vector<int> in_children(const std::vector<std::function<int()>>& bodies) {
  std::vector<int> results(bodies.size(), -1);
  std::map<pid_t, size_t> running;
  size_t next = 0;
  while (next < bodies.size() || !running.empty()) {
    while (next < bodies.size() && running.size() < kAtATime) {
      running[start(bodies[next])] = next;
      ++next;
    }
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    const auto it = running.find(ended);
    if (it == running.end()) continue;
    results[it->second] = result_of(status);
    running.erase(it);
  }
  return results;
}

void use_first_device() {
  find_cuda_device("cuda:0");
  const CudaDriver& driver = CudaDriver::get();
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(driver.device_get(&device, 0));
  check(driver.primary_context(&context, device));
  check(driver.set_context(context));
}

void poke(void* start, long long offset, bool write, void* out) {
  static const CUfunction function = [] {
    CUmodule module = nullptr;
    CUfunction found = nullptr;
    check(CudaDriver::get().module_load_data(&module, kPoke));
    // By their own names, as a package calls them: the launch observer stands in for both.
    check(cuModuleGetFunction(&found, module, "poke"));
    return found;
  }();
  unsigned number = write ? 1 : 0;
  void* arguments[] = {&start, &offset, &number, &out};
  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
}

int wait_for_device() { return CudaDriver::get().synchronize(); }

unsigned char byte_at(const void* address) {
  static unsigned char* const pinned = [] {
    void* made = nullptr;
    check(CudaDriver::get().host_alloc(&made, 16, 0));
    return static_cast<unsigned char*>(made);
  }();
  check(CudaDriver::get().copy_to_host(pinned, reinterpret_cast<CUdeviceptr>(address), 1, nullptr));
  check(CudaDriver::get().synchronize());
  return *pinned;
}

}  // namespace aotifuzz::test
