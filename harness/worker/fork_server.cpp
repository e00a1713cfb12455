#include "worker/fork_server.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include "worker/case_server.h"
#include "worker/kernel_calls.h"

namespace aotifuzz {
namespace {

using std::chrono::steady_clock;

/// How long a process may go on with one case after the parent has gone.
constexpr std::chrono::seconds kGrace{2};
/// Deaths in a row before the first case: the world is wrong, not a case.
constexpr int kStillbornMax = 3;

/// Waits for `pid` to end; kills it when the parent closed its end of the requests and it is stuck in one case.
int wait_for(pid_t pid, int request_fd, const FlightRecorder* recorder) {
  const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  steady_clock::time_point gone{};
  uint64_t case_then = 0;
  for (;;) {
    pollfd fds[2] = {{pid_fd, POLLIN, 0}, {request_fd, 0, 0}};
    // Once the parent's end is closed the second entry would wake us for ever.
    const bool orphaned = gone != steady_clock::time_point{};
    const int timeout = pid_fd < 0 ? 5 : orphaned ? 100 : -1;
    if (orphaned) fds[1].fd = -1;
    poll(fds, 2, timeout);
    int status = 0;
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) {
      close(pid_fd);
      return status;
    }
    const uint64_t case_now = recorder ? recorder->case_id.load() : 0;
    if (orphaned ? case_now != case_then : (fds[1].revents & (POLLHUP | POLLERR)) != 0) {
      gone = steady_clock::now();
      case_then = case_now;
    }
    // Without a recorder the worker was started by hand, and whoever did that can also end it.
    if (orphaned && recorder && steady_clock::now() - gone > kGrace) kill(pid, SIGKILL);
  }
}

}  // namespace

int ForkServer::run() {
  try {
    return serve();
  } catch (const HarnessError& error) {
    RequestChannel(pipes_.request_fd, pipes_.message_fd).send(fatal_message(error));
    return kExitWorld;
  }
}

int ForkServer::serve() {
  prepare_process();
  FlightRecorder* recorder = map_recorder(pipes_.recorder_fd);
  GuardAllocator* allocator = arguments_.is_guarded() ? &GuardAllocator::install(recorder) : nullptr;
  // Weights start as aligned as those inside the package do, so that both sides' matrix products round alike.
  if (allocator) allocator->set_alignment(64);
  // Never destroyed: nothing of a package runs in this process, its destructors neither.
  if (arguments_.trace) KernelCalls::instance().watch_data_pointers();
  LoadedPackage* package = new LoadedPackage(arguments_);
  warm_up_host();
  if (allocator) allocator->set_alignment(1);
  RequestChannel channel(pipes_.request_fd, pipes_.message_fd);
  WorkerMessage hello;
  hello.kind = WorkerMessage::Kind::kHello;
  hello.hello = package->hello();
  if (!channel.send(hello)) return kExitNoFaults;

  for (int stillborn = 0; stillborn < kStillbornMax;) {
    const uint64_t case_before = recorder ? recorder->case_id.load() : 0;
    const pid_t pid = fork();
    if (pid < 0)
      throw HarnessError("no further process can be forked", "fork", "check the limits on processes and memory");
    if (pid == 0) {
      try {
        _exit(CaseServer::serve({.package = package,
                                 .channel = &channel,
                                 .recorder = recorder,
                                 .allocator = allocator,
                                 .memory_mib = arguments_.memory_mib,
                                 .kernels_every = static_cast<uint64_t>(arguments_.kernels_every),
                                 .trace = trace_options(arguments_)}));
      } catch (const HarnessError& error) {
        channel.send(fatal_message(error));
        _exit(CaseServer::kWorld);
      }
    }
    const int status = wait_for(pid, pipes_.request_fd, recorder);
    WorkerMessage died;
    died.kind = WorkerMessage::Kind::kDied;
    died.pid = pid;
    if (recorder) died.case_id = recorder->case_id;
    if (recorder && WIFSIGNALED(status)) package->symbols().write_stack_text(*recorder);
    if (WIFSIGNALED(status)) died.signal = WTERMSIG(status);
    if (WIFEXITED(status)) died.status = WEXITSTATUS(status);
    if (died.signal == 0 && died.status == CaseServer::kDone) return kExitNoFaults;
    if (died.signal == 0 && died.status == CaseServer::kWorld) return kExitWorld;
    channel.drop_pending();
    if (!channel.send(died)) return kExitNoFaults;
    const bool served = !recorder || recorder->case_id.load() != case_before || died.status == CaseServer::kRecycled;
    stillborn = served ? 0 : stillborn + 1;
  }
  throw HarnessError("processes end before they take a case", arguments_.package,
                     "run the worker by hand with the same arguments to see why");
}

}  // namespace aotifuzz
