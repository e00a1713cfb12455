#include "worker/crash_handler.h"

#include <signal.h>
#include <sys/mman.h>

namespace aotifuzz {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kStackBytes = 64 << 10;

FlightRecorder* shared_recorder = nullptr;

/// Async-signal-safe: two stores to shared memory. SA_RESETHAND has put the default action back; the signal is still
/// blocked here, so raise() takes effect on return, with the default action.
void on_signal(int signal, siginfo_t* info, void*) {
  if (shared_recorder) {
    shared_recorder->fault_address = signal == SIGABRT ? 0 : reinterpret_cast<uint64_t>(info->si_addr);
    shared_recorder->fault_signal = signal;
  }
  raise(signal);
}

}  // namespace

void install_crash_handlers(FlightRecorder* recorder) {
  shared_recorder = recorder;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack != MAP_FAILED) {
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = kStackBytes;
    sigaltstack(&alternate, nullptr);
  }
  for (int signal : kSignals) {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace aotifuzz
