#include "worker/crash_handler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <thread>

namespace aotifuzz {
namespace {

/// Runs `body` in a forked process with the handlers in place; the signal that killed it.
template <class Body>
int death_of(FlightRecorder* recorder, Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    install_crash_handlers(recorder);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

class CrashHandlerTest : public ::testing::Test {
 protected:
  CrashHandlerTest() {
    void* memory = mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    recorder_ = new (memory) FlightRecorder;
  }
  FlightRecorder* recorder_;
};

TEST_F(CrashHandlerTest, WritesSignalAndAddressAndDiesOfTheSignal) {
  auto* page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT_EQ(death_of(recorder_, [&] { (void)page[123]; }), SIGSEGV);
  EXPECT_EQ(recorder_->fault_signal, SIGSEGV);
  EXPECT_EQ(recorder_->fault_address, reinterpret_cast<uint64_t>(page) + 123);
}

TEST_F(CrashHandlerTest, EveryFatalSignalIsWritten) {
  for (int signal : {SIGFPE, SIGABRT, SIGBUS, SIGILL}) {
    recorder_->begin_case(1);
    EXPECT_EQ(death_of(recorder_, [&] { signal == SIGABRT ? abort() : (void)raise(signal); }), signal);
    EXPECT_EQ(recorder_->fault_signal, signal);
  }
}

int overflow(volatile char* above, int depth) {
  volatile char here[4096];
  here[0] = above ? above[0] : 0;
  return depth == 0 ? 0 : overflow(here, depth - 1) + here[0];
}

TEST_F(CrashHandlerTest, AStackOverflowIsWrittenToo) {
  EXPECT_EQ(death_of(recorder_, [] { overflow(nullptr, 1 << 20); }), SIGSEGV);
  EXPECT_EQ(recorder_->fault_signal, SIGSEGV);
}

TEST_F(CrashHandlerTest, ReadsAndWritesAreTold) {
  auto* page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  GuardAllocator* allocator = nullptr;
  for (const bool write : {false, true}) {
    death_of(recorder_, [&] {
      allocator = &GuardAllocator::install(recorder_);
      install_crash_handlers(recorder_, allocator);
      if (write)
        page[0] = 1;
      else
        (void)page[0];
    });
    EXPECT_EQ(recorder_->fault.access,
              static_cast<int32_t>(write ? MemoryFault::Access::kWrite : MemoryFault::Access::kRead));
    EXPECT_EQ(recorder_->fault.guarded, 0);
    EXPECT_GT(recorder_->fault.frame_count, 2);
  }
}

TEST_F(CrashHandlerTest, ThreadsThatFaultAtOnceLeaveOneWholeRecord) {
  auto* page = static_cast<volatile char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 20; ++i) {
    recorder_->begin_case(1);
    EXPECT_EQ(death_of(recorder_,
                       [&] {
                         std::atomic<int> ready{0};
                         const auto fault = [&] {
                           for (++ready; ready < 4;) continue;
                           (void)page[9];
                         };
                         std::thread threads[] = {std::thread(fault), std::thread(fault), std::thread(fault)};
                         fault();
                         for (std::thread& thread : threads) thread.join();
                       }),
              SIGSEGV);
    EXPECT_EQ(recorder_->fault_address, reinterpret_cast<uint64_t>(page) + 9);
    EXPECT_GT(recorder_->fault.frame_count, 1);
  }
}

TEST_F(CrashHandlerTest, WorksWithoutARecorder) {
  EXPECT_EQ(death_of(nullptr, [] { raise(SIGSEGV); }), SIGSEGV);
}

}  // namespace
}  // namespace aotifuzz
