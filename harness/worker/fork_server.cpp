#include "worker/fork_server.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Logging.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <new>

#include "worker/case_server.h"

namespace aotifuzz {
namespace {

using std::chrono::steady_clock;

/// How long a process may go on with one case after the parent has gone.
constexpr std::chrono::seconds kGrace{2};
/// Deaths in a row before the first case: the world is wrong, not a case.
constexpr int kStillbornMax = 3;

FlightRecorder* map_recorder(int fd) {
  if (fd < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  auto* recorder = memory == MAP_FAILED ? nullptr : static_cast<FlightRecorder*>(memory);
  if (!recorder || recorder->magic != FlightRecorder::kMagic || recorder->version != FlightRecorder::kVersion)
    throw HarnessError("the flight recorder is none", "descriptor " + std::to_string(fd),
                       "use aotifuzz and aotifuzz-worker of the same build");
  return recorder;
}

/// Death is normal here: a core file of gigabytes for each would not be.
void forbid_core_files() {
  // One byte, not zero: a pipe to a core handler is skipped only then.
  const rlimit limit{1, 1};
  setrlimit(RLIMIT_CORE, &limit);
}

/// What libraries set up at their first use, so that each forked process finds it done: MKL counts the cores one by one
/// (milliseconds), oneDNN asks the processor what it can do.
void warm_up() {
  const at::Tensor ones = at::ones({16, 16});
  at::mm(ones, ones);
  at::addmm(ones, ones, ones);
  at::bmm(ones.unsqueeze(0), ones.unsqueeze(0));
  at::softmax(ones, -1);
  at::mkldnn_convolution(ones.view({1, 1, 16, 16}), at::ones({1, 1, 3, 3}), {}, {1, 1}, {1, 1}, {1, 1}, 1);
}

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
    // Three parts, one a line; see HarnessError.
    const std::string text = error.what();
    const size_t where = text.find("\n  where: "), fix = text.find("\n  to do: ");
    WorkerMessage fatal;
    fatal.kind = WorkerMessage::Kind::kFatal;
    fatal.what = text.substr(0, where);
    if (where != std::string::npos && fix != std::string::npos) {
      fatal.where = text.substr(where + 10, fix - where - 10);
      fatal.to_do = text.substr(fix + 10);
    }
    RequestChannel(pipes_.request_fd, pipes_.message_fd).send(fatal);
    return kExitWorld;
  }
}

int ForkServer::serve() {
  forbid_core_files();
  signal(SIGPIPE, SIG_IGN);
  // A refusal costs milliseconds when each error collects and prints a backtrace.
  c10::SetStackTraceFetcher([] { return std::string(); });
  // Large copies while loading would otherwise start OpenMP's threads, and a process with threads must not fork.
  at::set_num_threads(1);
  FlightRecorder* recorder = map_recorder(pipes_.recorder_fd);
  GuardAllocator* allocator = arguments_.guard_allocator ? &GuardAllocator::install(recorder) : nullptr;
  // Weights start as aligned as those inside the package do, so that both sides' matrix products round alike.
  if (allocator) allocator->set_alignment(64);
  // Never destroyed: nothing of a package runs in this process, its destructors neither.
  LoadedPackage* package = new LoadedPackage(arguments_);
  warm_up();
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
        _exit(CaseServer::serve({package, &channel, recorder, allocator, arguments_.memory_mib}));
      } catch (const HarnessError& error) {
        WorkerMessage fatal;
        fatal.kind = WorkerMessage::Kind::kFatal;
        fatal.what = error.what();
        channel.send(fatal);
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
    if (!channel.send(died)) return kExitNoFaults;
    const bool served = !recorder || recorder->case_id.load() != case_before || died.status == CaseServer::kRecycled;
    stillborn = served ? 0 : stillborn + 1;
  }
  throw HarnessError("processes end before they take a case", arguments_.package,
                     "run the worker by hand with the same arguments to see why");
}

}  // namespace aotifuzz
