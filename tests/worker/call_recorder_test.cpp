#include "worker/call_recorder.h"

#include <gtest/gtest.h>

#include "tests/support/memory_trap.h"
#include "tests/support/planted_kernels.h"

namespace aotifuzz {
namespace {

using test::in_guarded_process;
using test::shared_recorder;
using test::Trap;

TEST(CallRecorder, KeepsTheOrderOfCallsAndWhichOneRuns) {
  FlightRecorder* recorder = shared_recorder();
  CallRecorder calls(*recorder, {"cpp_first", "cpp_second"});
  const uint64_t integers[6] = {11, 12, 13, 14, 15, 16}, stack[2] = {17, 18};
  const KernelCall first{.kernel = 0, .integers = integers, .stack = stack, .stack_words = 2};
  KernelCall second = first;
  second.kernel = 1;
  EXPECT_EQ(recorded_kernel(*recorder), "");
  calls.before(first);
  EXPECT_EQ(recorded_kernel(*recorder), "cpp_first");
  calls.after(first);
  EXPECT_EQ(recorded_kernel(*recorder), "");
  calls.before(second);
  EXPECT_EQ(recorded_kernel(*recorder), "cpp_second");
  EXPECT_EQ(recorder->calls, 2);
  EXPECT_EQ(recorder->call_words[0], 11u);
  EXPECT_EQ(recorder->call_words[7], 18u);
  recorder->begin_run();
  EXPECT_EQ(recorded_kernel(*recorder), "");
}

TEST(CallRecorder, MoreKernelsAndCallsThanItHasRoomForAreHarmless) {
  FlightRecorder* recorder = shared_recorder();
  const std::vector<std::string> names(FlightRecorder::kKernels + 5, std::string(500, 'k'));
  CallRecorder calls(*recorder, names);
  const uint64_t words[6] = {};
  for (size_t i = 0; i < FlightRecorder::kCalls + 5; ++i)
    calls.before({.kernel = FlightRecorder::kKernels + 1, .integers = words, .stack = words, .stack_words = 0});
  EXPECT_EQ(recorded_kernel(*recorder), "");
  EXPECT_EQ(recorder->calls, static_cast<int>(FlightRecorder::kCalls) + 5);
}

TEST(CallRecorder, NamesTheKernelThatReadsPastTheEnd) {
  const Trap trap =
      in_guarded_process({.stage = Stage::kSubject}, [](GuardAllocator& allocator, FlightRecorder& recorder) {
        KernelCalls& watched = KernelCalls::instance();
        watched.watch_library_of(reinterpret_cast<const void*>(&run_reads));
        CallRecorder calls(recorder, watched.names());
        watched.set_observer(&calls);
        const c10::DataPtr block = allocator.allocate(10 * sizeof(float));
        allocator.label(block.get(), BufferRole::kInput, "data");
        float out = 0;
        run_reads(static_cast<const float*>(block.get()), 3, &out);
        run_reads(static_cast<const float*>(block.get()), 12, &out);
      });
  EXPECT_EQ(trap.signal, SIGSEGV);
  ASSERT_TRUE(trap.fault);
  EXPECT_EQ(trap.fault->kernel, "cpp_reads");
  EXPECT_EQ(trap.fault->call, 2);
  EXPECT_EQ(memory_fault_key(*trap.fault), "read past end of input data");
  EXPECT_EQ(trap.fault->distance, 8u);
}

}  // namespace
}  // namespace aotifuzz
