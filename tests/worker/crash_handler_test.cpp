#include "worker/crash_handler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

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
    recorder_ = new (memory) FlightRecorder();
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

TEST_F(CrashHandlerTest, WorksWithoutARecorder) {
  EXPECT_EQ(death_of(nullptr, [] { raise(SIGSEGV); }), SIGSEGV);
}

}  // namespace
}  // namespace aotifuzz
