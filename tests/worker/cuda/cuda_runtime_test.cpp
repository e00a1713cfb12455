#include "worker/cuda/cuda_runtime.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "core/error.h"
#include "tests/support/cuda_child.h"
#include "worker/cuda/cuda_driver.h"
#include "worker/device_copies.h"

namespace aotifuzz {
namespace {

using test::in_child;
using test::poke;

enum Result : int { kFine = 0, kFaultAsExpected = 40, kOtherFault = 41 };

CudaRuntime::Setup setup_with(FlightRecorder* recorder, const char* fault, const char* step) {
  CudaRuntime::Setup setup;
  setup.device = "cuda:0";
  setup.recorder = recorder;
  setup.on_fault = [=](const DeviceFault& found) {
    std::printf("%s, in %s\n", found.name.c_str(), recorder->step);
    std::fflush(stdout);
    _exit(found.name == fault && std::strstr(recorder->step, step) ? kFaultAsExpected : kOtherFault);
  };
  return setup;
}

at::TensorOptions on_device(const CudaRuntime& runtime) {
  return at::TensorOptions(at::kByte).device(runtime.device());
}

TEST(CudaRuntime, ACarefulRunNamesTheLaunchThatFaults) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              CudaRuntime runtime(setup_with(&recorder, "illegal memory access", "launch 2: poke"));
              runtime.begin_case(true);
              runtime.begin_run({});
              const at::Tensor block = at::empty({400}, on_device(runtime));
              poke(block.mutable_data_ptr(), 399, true, nullptr);
              poke(block.mutable_data_ptr(), 400, true, nullptr);
              poke(block.mutable_data_ptr(), 0, true, nullptr);
              runtime.end_run();
              return kFine;
            }),
            kFaultAsExpected);
}

TEST(CudaRuntime, AQuickRunSaysHowManyLaunchesThereWere) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              CudaRuntime runtime(setup_with(&recorder, "illegal memory access", "one of 2 launches"));
              runtime.begin_case(false);
              runtime.begin_run({});
              const at::Tensor block = at::empty({400}, on_device(runtime));
              poke(block.mutable_data_ptr(), 400, true, nullptr);
              poke(block.mutable_data_ptr(), 0, true, nullptr);
              runtime.end_run();
              return kFine;
            }),
            kFaultAsExpected);
}

TEST(CudaRuntime, AnOverwrittenCanaryIsAFault) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              CudaRuntime runtime(
                  setup_with(&recorder, "write past the end of a buffer", "0 bytes past the end of a block of 397"));
              runtime.begin_case(false);
              runtime.begin_run({.canaries = true});
              const at::Tensor block = at::empty({397}, on_device(runtime));
              poke(block.mutable_data_ptr(), 397, true, nullptr);
              runtime.end_run();
              return kFine;
            }),
            kFaultAsExpected);
}

TEST(CudaRuntime, OrdinaryOpsRunOnGuardedMemory) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              CudaRuntime runtime(setup_with(&recorder, "", ""));
              runtime.warm_up();
              for (int i = 0; i < 20; ++i) {
                const bool odd = i % 2 != 0;
                runtime.begin_case(odd);
                runtime.begin_run({.at_start = odd, .protect_freed = odd, .canaries = true});
                const at::Tensor a = at::randn({7 + i, 5}), b = at::randn({5, 3}), image = at::randn({2, 3, 9, 9});
                const at::Tensor x = a.to(runtime.device()), y = b.to(runtime.device());
                const bool same =
                    at::allclose(x.mm(y).cpu(), a.mm(b), 1e-4, 1e-4) &&
                    at::allclose(x.softmax(1).cpu(), a.softmax(1), 1e-5, 1e-5) &&
                    at::equal(std::get<0>(x.sort(0)).cpu(), std::get<0>(a.sort(0))) &&
                    at::allclose(
                        at::conv2d(image.to(runtime.device()), at::ones({4, 3, 3, 3}).to(runtime.device())).cpu(),
                        at::conv2d(image, at::ones({4, 3, 3, 3})), 1e-2, 1e-2);
                if (!same) return 1;
                runtime.end_run();
              }
              return 0;
            }),
            0);
}

TEST(CudaRuntime, CopiesKeepLayoutAndSharing) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              CudaRuntime runtime(setup_with(&recorder, "", ""));
              const at::Tensor base = at::arange(24, at::TensorOptions(at::kFloat).device(runtime.device()));
              const std::vector<at::Tensor> device = {base.view({4, 6}).t(), base.narrow(0, 3, 5), at::Tensor(),
                                                      at::empty({0, 3}, base.options()), base.clone()};
              const std::vector<at::Tensor> host = copied_to(device, c10::kCPU);
              if (host[0].strides() != device[0].strides() || !host[0].is_cpu()) return 1;
              if (host[0].storage().data() != host[1].storage().data()) return 2;
              if (host[1].storage_offset() != 3 || host[1][0].item<float>() != 3) return 3;
              if (host[2].defined() || host[3].sizes() != device[3].sizes()) return 4;
              if (host[4].storage().data() == host[0].storage().data()) return 5;
              return at::equal(host[0], device[0].cpu()) ? 0 : 6;
            }),
            0);
}

TEST(CudaRuntime, SnapshotsAreOfWhatMayBeRead) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              CudaRuntime runtime(setup_with(&recorder, "none", ""));
              runtime.begin_case(false);
              runtime.begin_run({});
              const at::Tensor block = at::arange(100, on_device(runtime));
              const auto snapshots = runtime.make_snapshots();
              const char* const copy = snapshots->copy(block.data_ptr(), 100);
              const char* const rest = snapshots->copy(static_cast<char*>(block.data_ptr()) + 90, 10);
              // Past the end lies nothing, and the device must survive being asked.
              const bool refused = !snapshots->copy(block.data_ptr(), size_t{8} << 20) &&
                                   !snapshots->copy(reinterpret_cast<const void*>(0x1000), 8);
              block.zero_();
              std::vector<uint8_t> home(110);
              const auto fetch = [&](const char* from, size_t bytes, size_t to) {
                return CudaDriver::get().copy_to_host(home.data() + to, reinterpret_cast<CUdeviceptr>(from), bytes,
                                                      nullptr) == CUDA_SUCCESS;
              };
              const bool fetched = copy && rest && fetch(copy, 100, 0) && fetch(rest, 10, 100);
              runtime.end_run();
              for (int i = 0; i < 110; ++i)
                if (home[i] != (i < 100 ? i : i - 10)) return kOtherFault;
              return fetched && refused ? kFine : kOtherFault;
            }),
            kFine);
}

TEST(CudaRuntime, APackageForAnotherGpuIsRefused) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(in_child([] {
              FlightRecorder recorder;
              const CudaRuntime runtime(setup_with(&recorder, "", ""));
              try {
                runtime.require("35", "old.pt2");
              } catch (const HarnessError& error) {
                return std::strstr(error.what(), "compiled for another GPU") ? 0 : 1;
              }
              return 2;
            }),
            0);
}

}  // namespace
}  // namespace aotifuzz
