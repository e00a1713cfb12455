#include "worker/crash_handler.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace aotifuzz {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
/// Unwinding takes a few KiB; sixteen times that costs nothing.
constexpr size_t kStackBytes = 128 << 10;

FlightRecorder* shared_recorder = nullptr;
const GuardAllocator* guard = nullptr;
std::atomic<int> handling{0};

struct Registers {
  uint64_t instruction = 0;
  MemoryFault::Access access = MemoryFault::Access::kUnknown;
};

Registers registers_of(const void* context) {
  Registers out;
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  out.instruction = static_cast<uint64_t>(registers[REG_RIP]);
  constexpr greg_t kPageFault = 14, kWriteBit = 2;
  if (registers[REG_TRAPNO] == kPageFault)
    out.access = registers[REG_ERR] & kWriteBit ? MemoryFault::Access::kWrite : MemoryFault::Access::kRead;
#endif
  return out;
}

void record_stack(uint64_t instruction, FaultEntry* fault) {
  // The handler's own frames come first; those of interest begin at the interrupted instruction.
  constexpr int kOwnFrames = 8;
  void* frames[FaultEntry::kFramesMax + kOwnFrames];
  const int count = backtrace(frames, FaultEntry::kFramesMax + kOwnFrames);
  int first = 0;
  while (first < count && reinterpret_cast<uint64_t>(frames[first]) != instruction) ++first;
  if (first == count) first = 0;
  int written = 0;
  for (int i = first; i < count && written < static_cast<int>(FaultEntry::kFramesMax); ++i)
    fault->frames[written++] = reinterpret_cast<uint64_t>(frames[i]);
  fault->frame_count = written;
}

/// Nothing here allocates or locks. backtrace() was called once before, so its library is loaded. What may fail in a
/// damaged process comes last: a fault in here kills at once, with what was written so far.
void on_signal(int signal, siginfo_t* info, void* context) {
  if (handling.exchange(1) != 0)
    for (;;) pause();  // another thread was first and is about to end the process
  if (FlightRecorder* recorder = shared_recorder) {
    const Registers registers = registers_of(context);
    recorder->fault_address = signal == SIGABRT ? 0 : reinterpret_cast<uint64_t>(info->si_addr);
    recorder->fault_signal = signal;
    recorder->fault.frames[0] = registers.instruction;
    recorder->fault.frame_count = registers.instruction != 0;
    // Positive codes come from the processor; a signal that a process sent names no address.
    if (guard && (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0) {
      recorder->fault.access = static_cast<int32_t>(registers.access);
      guard->describe(info->si_addr, &recorder->fault);
    }
    record_stack(registers.instruction, &recorder->fault);
  }
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked here, so it takes effect on return
}

}  // namespace

void install_crash_handlers(FlightRecorder* recorder, const GuardAllocator* allocator) {
  shared_recorder = recorder;
  guard = allocator;
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads the unwinder
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
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace aotifuzz
