#include "worker/spare_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "core/error.h"
#include "worker/case_server.h"

namespace aotifuzz {
namespace {

/// Deaths in a row before the first case: the world is wrong, not a case.
constexpr int kStillbornMax = 3;
/// Between two looks at who has ended; a process that leaves says so at once.
constexpr int kLookEveryMs = 5;

/// What a leaving process says.
struct Leaving {
  pid_t pid;
  int32_t told;
};

void close_fd(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

}  // namespace

bool SpareServer::Child::says_hello() { return hello_said_->exchange(1) == 0; }

bool SpareServer::Child::is_its_turn() const {
  pollfd turn{turn_fd_, POLLIN, 0};
  return turn_fd_ < 0 || poll(&turn, 1, 0) > 0;
}

void SpareServer::Child::wait_for_turn() const {
  char turn = 0;
  while (turn_fd_ >= 0 && read(turn_fd_, &turn, 1) < 0 && errno == EINTR) {
  }
}

void SpareServer::Child::leaves(bool told) const {
  const Leaving leaving{getpid(), told};
  if (write(leave_fd_, &leaving, sizeof(leaving)) < 0) return;  // the server sees that it is gone, only later
}

SpareServer::SpareServer(Setup setup) : setup_(std::move(setup)), spares_wanted_(setup_.spares) {
  void* memory = mmap(nullptr, sizeof(*hello_said_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || pipe2(leave_fds_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw HarnessError("no further pipe or memory", "starting a worker", "raise the limit on open files or free memory");
  hello_said_ = new (memory) std::atomic<int>(0);
}

SpareServer::Process SpareServer::fork_one(bool at_once) {
  int turn[2] = {-1, -1};
  if (!at_once && pipe2(turn, O_CLOEXEC) != 0)
    throw HarnessError("no further pipe", "starting a worker", "raise the limit on open files");
  const pid_t server = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    throw HarnessError("no further process can be forked", "fork", "check the limits on processes and memory");
  if (pid > 0) {
    close_fd(&turn[0]);
    return {pid, turn[1]};
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(CaseServer::kDone);
  // Another's turn must not look like ours, nor an end of file be kept from it.
  for (Process& other : spares_) close_fd(&other.turn_fd);
  close_fd(&turn[1]);
  Child child;
  child.turn_fd_ = turn[0];
  child.leave_fd_ = leave_fds_[1];
  child.hello_said_ = hello_said_;
  _exit(setup_.live(child));
}

void SpareServer::refill() {
  while (static_cast<int>(spares_.size()) < spares_wanted_) spares_.push_back(fork_one(/*at_once=*/false));
}

void SpareServer::next() {
  case_before_ = setup_.recorder ? setup_.recorder->case_id.load() : 0;
  if (spares_.empty()) {
    serving_ = fork_one(/*at_once=*/true);
    return;
  }
  serving_ = spares_.front();
  spares_.erase(spares_.begin());
  if (write(serving_.turn_fd, "!", 1) < 0) return;  // it is gone, and await_event() sees that
  close_fd(&serving_.turn_fd);
}

void SpareServer::tell(int wait_status) {
  WorkerMessage died;
  died.kind = WorkerMessage::Kind::kDied;
  died.pid = serving_.pid;
  if (setup_.recorder) died.case_id = setup_.recorder->case_id;
  if (WIFSIGNALED(wait_status)) died.signal = WTERMSIG(wait_status);
  if (WIFEXITED(wait_status)) died.status = WEXITSTATUS(wait_status);
  // Planned ends of both kinds look alike to the parent.
  if (died.signal == 0 && died.status == CaseServer::kRenewed) died.status = CaseServer::kRecycled;
  setup_.channel->send(died);
}

/// Until the process that serves leaves or is gone. Spares that end meanwhile are replaced, or done without.
void SpareServer::await_event() {
  bool first_ready = hello_said_->load() != 0;
  for (;;) {
    // The first one gets ready alone, so that it is there soon.
    if (!first_ready && hello_said_->load() != 0) first_ready = true;
    if (first_ready) refill();
    pollfd left{leave_fds_[0], POLLIN, 0};
    poll(&left, 1, kLookEveryMs);
    Leaving leaving{};
    while (read(leave_fds_[0], &leaving, sizeof(leaving)) == sizeof(leaving)) {
      if (leaving.pid != serving_.pid) continue;
      if (!leaving.told) tell(CaseServer::kRecycled);
      serving_.pid = -1;
      return;
    }
    int status = 0;
    for (pid_t gone = waitpid(-1, &status, WNOHANG); gone > 0; gone = waitpid(-1, &status, WNOHANG)) {
      if (gone == serving_.pid) {
        serving_status_ = status;
        return;
      }
      const auto spare = std::find_if(spares_.begin(), spares_.end(), [&](const Process& p) { return p.pid == gone; });
      if (spare == spares_.end()) continue;  // one that had left
      close_fd(&spare->turn_fd);
      spares_.erase(spare);
      if (WIFEXITED(status) && spares_wanted_ > 0) --spares_wanted_;
    }
  }
}

int SpareServer::run() {
  for (;;) {
    next();
    serving_status_ = 0;
    await_event();
    const bool gone = serving_.pid > 0;
    const int status = serving_status_;
    const int code = gone && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == CaseServer::kDone) return kExitNoFaults;
    if (code == CaseServer::kWorld) return kExitWorld;
    const bool served = !setup_.recorder || setup_.recorder->case_id.load() != case_before_ || !gone ||
                        code == CaseServer::kRecycled || code == CaseServer::kRenewed;
    stillborn_ = served ? 0 : stillborn_ + 1;
    if (stillborn_ == kStillbornMax)
      throw HarnessError("processes end before they take a case", "the worker of the device",
                         "run the worker by hand with the same arguments to see why");
    if (gone && code != kNotReady) tell(status);
  }
}

}  // namespace aotifuzz
