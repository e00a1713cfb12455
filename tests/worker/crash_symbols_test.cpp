#include "worker/crash_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_trap.h"
#include "tests/support/planted_kernels.h"
#include "worker/kernel_calls.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CrashSymbols, NamesTheFunctionsOnTheStackOfADeadProcess) {
  FlightRecorder* recorder = test::shared_recorder();
  KernelCalls::instance().watch_library_of(reinterpret_cast<const void*>(&run_reads));
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    install_crash_handlers(recorder);
    float out = 0;
    run_reads(nullptr, 1, &out);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  CrashSymbols().write_stack_text(*recorder);
  const std::string stack = recorded_stack(*recorder);
  EXPECT_THAT(stack, StartsWith("cpp_reads (libtest_planted_kernels.so)\n"));
  EXPECT_THAT(stack, HasSubstr("\nrun_reads (libtest_planted_kernels.so)")) << "through the thunk";
}

TEST(CrashSymbols, AnAddressOfNoFunctionIsAQuestionMark) {
  EXPECT_EQ(CrashSymbols().name_of(1, false), "?");
  EXPECT_EQ(CrashSymbols().name_of(0, true), "?");
}

TEST(CrashSymbols, AnyFrameCountIsReadSafely) {
  FlightRecorder* recorder = test::shared_recorder();
  for (const int count : {-1, 0, 1 << 20}) {
    recorder->fault.frame_count = count;
    CrashSymbols().write_stack_text(*recorder);
  }
  EXPECT_THAT(recorded_stack(*recorder), StartsWith("?"));
}

}  // namespace
}  // namespace aotifuzz
