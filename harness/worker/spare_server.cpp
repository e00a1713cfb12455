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

/// Drivers make contexts one after the other: with more at a time each one is ready later, and no two are sooner.
constexpr int kLoadingMax = 2;
/// How long a process may take to give back its device.
constexpr int kGoneMaxMs = 5'000;

/// What a process says to its server.
struct Note {
  enum Kind : int32_t { kReady, kLeaves, kLeavesAndTold };
  pid_t pid;
  int32_t kind;
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
  const Note note{getpid(), Note::kReady};
  if (write(note_fd_, &note, sizeof(note)) < 0) return;  // the server is gone
  char turn = 0;
  while (turn_fd_ >= 0 && read(turn_fd_, &turn, 1) < 0 && errno == EINTR) {
  }
}

void SpareServer::Child::leaves(bool told) const {
  const Note note{getpid(), told ? Note::kLeavesAndTold : Note::kLeaves};
  if (write(note_fd_, &note, sizeof(note)) < 0) return;  // the server sees that it is gone, only later
}

SpareServer::SpareServer(Setup setup) : setup_(std::move(setup)), spares_wanted_(setup_.spares) {
  void* memory = mmap(nullptr, sizeof(*hello_said_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || pipe2(note_fds_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw HarnessError("no further pipe or memory", "starting a worker",
                       "raise the limit on open files or free memory");
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
    return {.pid = pid, .turn_fd = turn[1], .at_once = at_once};
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(CaseServer::kDone);
  // Another's turn must not look like ours, nor an end of file be kept from it.
  for (Process& other : spares_) close_fd(&other.turn_fd);
  close_fd(&turn[1]);
  Child child;
  child.turn_fd_ = turn[0];
  child.note_fd_ = note_fds_[1];
  child.hello_said_ = hello_said_;
  _exit(setup_.live(child));
}

bool SpareServer::may_load_another() const {
  // Whoever serves comes first, also to the room on the device.
  if (!serving_.ready) return false;
  const auto loading = std::count_if(spares_.begin(), spares_.end(), [](const Process& p) { return !p.ready; });
  return loading < kLoadingMax && static_cast<int>(spares_.size()) < spares_wanted_;
}

void SpareServer::refill() {
  while (may_load_another()) spares_.push_back(fork_one(/*at_once=*/false));
}

/// They may still hold the room on the device that a new one needs.
void SpareServer::wait_for_those_leaving() {
  for (int waited = 0; !leaving_.empty() && waited < kGoneMaxMs; waited += kLookEveryMs) {
    reap();
    if (!leaving_.empty()) poll(nullptr, 0, kLookEveryMs);
  }
}

void SpareServer::next() {
  case_before_ = setup_.recorder ? setup_.recorder->case_id.load() : 0;
  serving_status_ = 0;
  while (!spares_.empty()) {
    // The oldest that is ready, else the oldest.
    auto best = std::find_if(spares_.begin(), spares_.end(), [](const Process& p) { return p.ready; });
    if (best == spares_.end()) best = spares_.begin();
    serving_ = *best;
    spares_.erase(best);
    const bool there = write(serving_.turn_fd, "!", 1) == 1;
    close_fd(&serving_.turn_fd);
    if (there) return;
    leaving_.push_back(serving_.pid);
  }
  wait_for_those_leaving();
  serving_ = fork_one(/*at_once=*/true);
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
  setup_.channel->drop_pending();
  setup_.channel->send(died);
}

/// True when the process that serves leaves.
bool SpareServer::read_notes() {
  Note note{};
  while (read(note_fds_[0], &note, sizeof(note)) == sizeof(note)) {
    if (note.kind == Note::kReady) {
      if (note.pid == serving_.pid) serving_.ready = true;
      for (Process& spare : spares_) spare.ready |= spare.pid == note.pid;
    } else if (note.pid == serving_.pid) {
      if (note.kind == Note::kLeaves) tell(CaseServer::kRecycled);
      leaving_.push_back(serving_.pid);
      serving_.pid = -1;
      return true;
    }
  }
  return false;
}

/// True when the process that serves is gone. A spare that is gone by itself found no room: one fewer is kept.
bool SpareServer::reap() {
  int status = 0;
  for (pid_t gone = waitpid(-1, &status, WNOHANG); gone > 0; gone = waitpid(-1, &status, WNOHANG)) {
    std::erase(leaving_, gone);
    if (gone == serving_.pid) {
      serving_status_ = status;
      return true;
    }
    const auto spare = std::find_if(spares_.begin(), spares_.end(), [&](const Process& p) { return p.pid == gone; });
    if (spare == spares_.end()) continue;
    close_fd(&spare->turn_fd);
    spares_.erase(spare);
    if (WIFEXITED(status) && spares_wanted_ > 0) --spares_wanted_;
  }
  return false;
}

/// Until the process that serves leaves or is gone.
void SpareServer::await_end() {
  for (;;) {
    refill();
    pollfd notes{note_fds_[0], POLLIN, 0};
    poll(&notes, 1, kLookEveryMs);
    // Notes first: a process that is gone may have said why.
    if (read_notes() || reap()) return;
  }
}

int SpareServer::run() {
  for (;;) {
    next();
    await_end();
    const bool gone = serving_.pid > 0;
    const int status = serving_status_;
    const int code = gone && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == CaseServer::kDone) return kExitNoFaults;
    if (code == CaseServer::kWorld) return kExitWorld;
    if (code == kNotReady && !serving_.at_once) {
      // It found no room just before its turn came.
      spares_wanted_ = std::max(0, spares_wanted_ - 1);
      continue;
    }
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
