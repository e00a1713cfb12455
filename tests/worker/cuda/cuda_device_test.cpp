#include "worker/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/cuda_child.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

TEST(CudaDevice, CodeRunsOnItsOwnMajorVersionFromItsMinorOn) {
  const CudaDevice hopper{0, "NVIDIA H200", 9, 0};
  EXPECT_EQ(why_not_runnable(hopper, "90"), "");
  EXPECT_EQ(why_not_runnable(hopper, "90a"), "");
  EXPECT_EQ(why_not_runnable(hopper, ""), "") << "not known is no reason to refuse";
  EXPECT_THAT(why_not_runnable(hopper, "80"), HasSubstr("compute capability 8.0, and NVIDIA H200 has 9.0"));
  EXPECT_THAT(why_not_runnable(hopper, "100"), HasSubstr("10.0"));
  const CudaDevice ada{0, "NVIDIA L4", 8, 9};
  EXPECT_EQ(why_not_runnable(ada, "80"), "");
  EXPECT_NE(why_not_runnable({0, "NVIDIA A100", 8, 0}, "86"), "");
}

TEST(CudaDevice, SaysWhatIsMissing) {
  if (test::why_no_cuda().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  try {
    find_cuda_device("cuda:0");
    FAIL();
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("CUDA driver"));
    EXPECT_THAT(error.what(), HasSubstr("where: cuda:0"));
  }
}

TEST(CudaDevice, FindsTheFirstAndRefusesTheHundredth) {
  AOTIFUZZ_NEEDS_CUDA();
  EXPECT_EQ(test::in_child([] {
              const CudaDevice device = find_cuda_device("cuda:0");
              if (device.name.empty() || device.major < 5) return 1;
              try {
                find_cuda_device("cuda:99");
              } catch (const HarnessError& error) {
                return std::string(error.what()).find("no such device") == std::string::npos ? 3 : 0;
              }
              return 2;
            }),
            0);
}

}  // namespace
}  // namespace aotifuzz
