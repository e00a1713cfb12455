#include "worker/kernel_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/planted_kernels.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class Listener final : public KernelObserver {
 public:
  void before(const KernelCall& call) override {
    events.push_back("before " + std::string(call.name));
    integers.assign(call.integers, call.integers + 6);
    floats.assign(call.floats, call.floats + 8);
    if (call.stack_words > 2) stack.assign(call.stack, call.stack + 3);
  }
  void after(const KernelCall& call) override { events.push_back("after " + std::string(call.name)); }
  std::vector<std::string> events;
  std::vector<uint64_t> integers, stack;
  std::vector<double> floats;
};

class KernelCallsTest : public ::testing::Test {
 protected:
  KernelCallsTest() {
    KernelCalls::instance().watch_library_of(reinterpret_cast<const void*>(&run_weighted_sum));
    KernelCalls::instance().set_observer(&listener_);
  }
  ~KernelCallsTest() override { KernelCalls::instance().set_observer(nullptr); }
  Listener listener_;
};

// 1 + 2*1.5 + 3*2 + 4*3 + ... as the kernel adds them.
constexpr double kSum =
    1 + 2 * 1.5 + 3 * 2 + 4 * 3 + 5 * 4 + 6 * 5 + 7 * 6 + 8 * 7 + 9 * 8 + 10 * 9 + 11 * 10 + 12 * 11 + 13 * 12;

TEST_F(KernelCallsTest, PassesEveryArgumentOnAndTellsBeforeAndAfter) {
  const float b = 1.5f;
  EXPECT_EQ(run_weighted_sum(&b), kSum);
  EXPECT_THAT(listener_.events, ElementsAre("before cpp_weighted_sum", "after cpp_weighted_sum"));
  EXPECT_THAT(listener_.integers, ElementsAre(1u, reinterpret_cast<uint64_t>(&b), 2u, 4u, 5u, 7u));
  EXPECT_EQ(listener_.floats[0], 3);
  EXPECT_EQ(listener_.floats[2], 10);
  EXPECT_THAT(listener_.stack, ElementsAre(8u, 9u, 11u));
}

TEST_F(KernelCallsTest, WithoutAnObserverCallsGoThrough) {
  KernelCalls::instance().set_observer(nullptr);
  const float b = 1.5f;
  EXPECT_EQ(run_weighted_sum(&b), kSum);
}

TEST_F(KernelCallsTest, AnExceptionPassesAndTheNextCallIsSeen) {
  try {
    run_throws(7);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "value 7");
  }
  const float b = 1.5f;
  run_weighted_sum(&b);
  EXPECT_THAT(listener_.events, ElementsAre("before cpp_throws", "before cpp_weighted_sum", "after cpp_weighted_sum"));
}

TEST_F(KernelCallsTest, OnlyKernelsAreSeenAndALibraryIsWatchedOnce) {
  int64_t out = 0;
  run_not_a_kernel(&out);
  EXPECT_EQ(out, 1);
  EXPECT_THAT(listener_.events, IsEmpty());
  EXPECT_THAT(KernelCalls::instance().names(), Contains("cpp_reads"));
  EXPECT_THAT(KernelCalls::instance().names(), Not(Contains("not_a_kernel")));
  EXPECT_EQ(KernelCalls::instance().watch_library_of(reinterpret_cast<const void*>(&run_weighted_sum)), 0u);
}

TEST(KernelSymbol, AreGeneratedKernelsAndShimsThatCompute) {
  EXPECT_TRUE(is_kernel_symbol("cpp_fused_add_0", true));
  EXPECT_FALSE(is_kernel_symbol("cpp_fused_add_0", false));
  EXPECT_TRUE(is_kernel_symbol("aoti_torch_cpu_addmm_out", false));
  EXPECT_TRUE(is_kernel_symbol("aoti_torch_proxy_executor_call_function", false));
  EXPECT_FALSE(is_kernel_symbol("aoti_torch_get_data_ptr", false));
  EXPECT_FALSE(is_kernel_symbol("AOTInductorModelContainerRun", true));
}

}  // namespace
}  // namespace aotifuzz
