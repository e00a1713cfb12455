#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <optional>

#include "core/memory_fault.h"
#include "worker/crash_handler.h"
#include "worker/guard_allocator.h"

namespace aotifuzz::test {

/// A recorder on zeroed shared memory, as the parent makes it.
inline FlightRecorder* shared_recorder() {
  void* memory = mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) FlightRecorder;
}

/// How a process ended that touched memory.
struct Trap {
  int signal = 0;  ///< 0: it lived
  int status = 0;
  std::optional<MemoryFault> fault;
};

/// Runs body(allocator, recorder) in a forked process of its own, with guard and crash handlers in place: the allocator
/// cannot be taken out again, and the body may die.
template <class Body>
Trap in_guarded_process(const GuardRun& run, Body body) {
  FlightRecorder* recorder = shared_recorder();
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    GuardAllocator& allocator = GuardAllocator::install(recorder);
    install_crash_handlers(recorder, &allocator);
    allocator.begin_run(run);
    body(allocator, *recorder);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  Trap trap{WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            recorded_memory_fault(*recorder)};
  munmap(recorder, sizeof(FlightRecorder));
  return trap;
}

/// Reads or writes one byte, whatever the compiler thinks of it.
inline void touch(const void* address, bool write) {
  auto* byte = static_cast<volatile char*>(const_cast<void*>(address));
  if (write)
    *byte = 1;
  else
    (void)*byte;
}

}  // namespace aotifuzz::test
