#include "campaign/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/error.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

using std::chrono::milliseconds;

// A message holds verdicts of one case: megabytes mean that something else is writing.
constexpr size_t kLineMax = size_t{64} << 20;
constexpr off_t kLogMax = 1 << 20;
constexpr milliseconds kKillTimeout{5'000};
constexpr milliseconds kQuitTimeout{500};

void close_fd(int* fd) {
  if (*fd >= 0) ::close(*fd);
  *fd = -1;
}

int check_fd(int fd, const char* call) {
  if (fd < 0)
    throw HarnessError(std::string(call) + " failed: " + std::strerror(errno), "starting a worker",
                       "raise the limit on open files or free memory");
  return fd;
}

// Out of the way of the worker's fixed descriptors.
int move_up(int fd) {
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 16);
  ::close(fd);
  return check_fd(moved, "fcntl");
}

}  // namespace

std::string find_worker_program() {
  if (const char* given = std::getenv("AOTIFUZZ_WORKER"); given && *given) {
    if (::access(given, X_OK) != 0)
      throw HarnessError("the worker program cannot be executed", given, "correct AOTIFUZZ_WORKER or unset it");
    return given;
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / "aotifuzz-worker").string();
  if (error || ::access(path.c_str(), X_OK) != 0)
    throw HarnessError("the worker program is missing", path,
                       "build the target aotifuzz-worker, or set AOTIFUZZ_WORKER");
  return path;
}

WorkerProcess::WorkerProcess(WorkerOptions options) : options_(std::move(options)) {
  // A worker that dies while we write to it is a result, not a reason to die.
  ::signal(SIGPIPE, SIG_IGN);
}

WorkerProcess::~WorkerProcess() {
  if (server_ > 0 && child_ > 0) send("quit\n");
  stop();
}

void WorkerProcess::spawn() {
  if (options_.program.empty()) options_.program = find_worker_program();
  int request[2], message[2];
  if (::pipe2(request, O_CLOEXEC) != 0 || ::pipe2(message, O_CLOEXEC) != 0) check_fd(-1, "pipe2");
  for (int* fd : {&request[0], &request[1], &message[0], &message[1]}) *fd = move_up(*fd);
  recorder_fd_ = move_up(check_fd(::memfd_create("aotifuzz-recorder", MFD_CLOEXEC), "memfd_create"));
  log_fd_ = move_up(check_fd(::memfd_create("aotifuzz-log", MFD_CLOEXEC), "memfd_create"));
  ::fcntl(log_fd_, F_SETFL, O_APPEND);
  if (::ftruncate(recorder_fd_, sizeof(FlightRecorder)) != 0) check_fd(-1, "ftruncate");
  void* memory = ::mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, recorder_fd_, 0);
  if (memory == MAP_FAILED) check_fd(-1, "mmap");
  recorder_ = new (memory) FlightRecorder;

  std::vector<std::string> words = options_.arguments.print();
  words.insert(words.begin(), options_.program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int null_fd = move_up(check_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open"));

  // Kernels ask for several threads however small the work. Threads that spin while they wait make a case ten times as
  // slow as soon as anything else runs on the machine. A policy that the user set stays.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Only async-signal-safe calls between fork and exec.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int sig : {SIGPIPE, SIGINT, SIGTERM}) ::signal(sig, SIG_DFL);
    ::dup2(null_fd, 0);
    ::dup2(log_fd_, 1);
    ::dup2(log_fd_, 2);
    ::dup2(request[0], WorkerArguments::kRequestFd);
    ::dup2(message[1], WorkerArguments::kMessageFd);
    ::dup2(recorder_fd_, WorkerArguments::kRecorderFd);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(null_fd);
  ::close(request[0]);
  ::close(message[1]);
  request_fd_ = request[1];
  message_fd_ = message[0];
  if (pid < 0) {
    stop();
    check_fd(-1, "fork");
  }
  ::setpgid(pid, pid);  // here too: whoever comes first, a kill of the group is safe from now on
  server_ = pid;
  child_ = -1;
  buffer_.clear();
  log_mark_ = 0;
  ++counters_.starts;
}

const WorkerHello& WorkerProcess::start() {
  if (server_ > 0) return hello_;
  spawn();
  const auto deadline = Clock::now() + options_.start_timeout;
  WorkerMessage message;
  switch (read_message(deadline, &message)) {
    case Read::kTimeout:
      fail_start("the worker did not finish loading in time");
    case Read::kClosed:
      fail_start("the worker ended before it had loaded the package");
    case Read::kGarbage:
      fail_start("the worker does not speak our protocol");
    case Read::kMessage:
      break;
  }
  if (message.kind == WorkerMessage::Kind::kFatal) {
    stop();
    throw HarnessError(message.what, message.where, message.to_do);
  }
  if (message.kind != WorkerMessage::Kind::kHello) fail_start("the worker does not say hello first");
  hello_ = message.hello;
  await_ready();
  if (child_ < 0) fail_start("the worker loaded the package but serves no cases");
  return hello_;
}

void WorkerProcess::fail_start(const std::string& why) {
  const std::string words = last_words();
  stop();
  throw HarnessError(
      why, options_.program + " --package " + options_.arguments.package + (words.empty() ? "" : "\n" + words),
      "run that command by hand to see where it stops; a package built for another torch or CPU does not load");
}

void WorkerProcess::await_ready() {
  const auto begin = Clock::now();
  WorkerMessage message;
  while (child_ < 0) {
    const Read read = read_message(begin + options_.start_timeout, &message);
    if (read != Read::kMessage) return;
    if (message.kind == WorkerMessage::Kind::kFatal) {
      stop();
      throw HarnessError(message.what, message.where, message.to_do);
    }
    if (message.kind == WorkerMessage::Kind::kReady) {
      child_ = message.pid;
      fresh_ = true;
      ++counters_.children;
    }
  }
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  if (counters_.children > 1 && us > counters_.recovery_us_max) counters_.recovery_us_max = us;
}

WorkerProcess::Read WorkerProcess::read_message(Clock::time_point deadline, WorkerMessage* message) {
  for (;;) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      auto parsed = parse_message(std::string_view(buffer_).substr(0, end));
      buffer_.erase(0, end + 1);
      if (!parsed) return Read::kGarbage;
      *message = std::move(*parsed);
      return Read::kMessage;
    }
    if (buffer_.size() > kLineMax) return Read::kGarbage;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    pollfd wanted{message_fd_, POLLIN, 0};
    const int ready =
        left.count() <= 0 ? 0 : ::poll(&wanted, 1, static_cast<int>(std::min<int64_t>(left.count(), 1'000'000'000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Read::kTimeout;
    char chunk[65536];
    const ssize_t n = ::read(message_fd_, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Read::kClosed;
    buffer_.append(chunk, static_cast<size_t>(n));
  }
}

bool WorkerProcess::send(const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::write(request_fd_, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

WorkerProcess::Clock::time_point WorkerProcess::case_deadline() const {
  return Clock::now() + std::chrono::duration_cast<milliseconds>(options_.case_timeout * patience_);
}

CaseResult WorkerProcess::run(const Case& c) {
  const std::string text = print_case(c);
  const auto begin = Clock::now();
  start();
  if (child_ < 0) await_ready();
  CaseResult result = child_ < 0 ? lost("the worker serves no more cases") : run_once(text);
  result.us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  return result;
}

CaseResult WorkerProcess::run_once(const std::string& case_text) {
  CaseResult result;
  result.fresh_child = fresh_;
  struct stat log {};
  ::fstat(log_fd_, &log);
  if (log.st_size > kLogMax && ::ftruncate(log_fd_, 0) == 0) log.st_size = 0;
  log_mark_ = log.st_size;

  const uint64_t id = next_id_++;
  if (!send(print_case_request(id, case_text))) return lost("the worker takes no more cases");
  auto deadline = case_deadline();
  bool killed = false;
  for (;;) {
    WorkerMessage message;
    switch (read_message(deadline, &message)) {
      case Read::kClosed:
        return lost("the worker program ended");
      case Read::kGarbage:
        return lost("the worker wrote something that is no message");
      case Read::kTimeout:
        if (killed || child_ < 0) return lost("the worker program does not answer");
        // Only the case's process: the program that loaded the package goes on.
        killed = true;
        ::kill(child_, SIGKILL);
        deadline = Clock::now() + kKillTimeout;
        continue;
      case Read::kMessage:
        break;
    }
    switch (message.kind) {
      case WorkerMessage::Kind::kHello:
        return lost("the worker said hello twice");
      case WorkerMessage::Kind::kFatal: {
        const HarnessError error(message.what, message.where, message.to_do);
        stop();
        throw error;
      }
      case WorkerMessage::Kind::kReady:
        child_ = message.pid;
        fresh_ = true;
        ++counters_.children;
        continue;
      case WorkerMessage::Kind::kReport:
        if (message.report.id != id) continue;
        fresh_ = false;
        losses_in_a_row_ = 0;
        result.report = std::move(message.report);
        return result;
      case WorkerMessage::Kind::kDied:
        break;
    }
    // A child that ended before it took up our case left the request in the pipe: the next one finds it there.
    const bool ours = message.case_id == id;
    const bool planned = message.signal == 0 && message.status == 0;
    child_ = -1;
    if (!planned) ++counters_.deaths;
    if (!ours) {
      if (killed) return lost("the worker does not take the case");
      deadline = case_deadline();
      result.fresh_child = true;
      continue;
    }
    losses_in_a_row_ = 0;
    auto kind = WorkerDeath::Kind::kExit;
    if (killed)
      kind = WorkerDeath::Kind::kHang;
    else if (message.signal == SIGKILL)
      kind = WorkerDeath::Kind::kOutOfMemory;
    else if (message.signal != 0)
      kind = WorkerDeath::Kind::kSignal;
    result.death = recorded(kind);
    result.death->signal = message.signal;
    result.death->status = message.status;
    // So that what follows starts from a live process and recovery is timed here.
    await_ready();
    return result;
  }
}

WorkerDeath WorkerProcess::recorded(WorkerDeath::Kind kind) const {
  WorkerDeath death;
  death.kind = kind;
  death.stage = static_cast<Stage>(recorder_->stage.load());
  if (death.stage < Stage::kIdle || death.stage > Stage::kTeardown) death.stage = Stage::kIdle;
  death.step.assign(recorder_->step, ::strnlen(recorder_->step, sizeof(recorder_->step)));
  death.reference_done = recorder_->reference_done != 0;
  death.reference_accepts = recorder_->reference_accepts != 0;
  death.fault_address = recorder_->fault_address;
  if (kind == WorkerDeath::Kind::kSignal) death.memory = recorded_memory_fault(*recorder_);
  if (std::string kernel = recorded_kernel(*recorder_); !kernel.empty()) death.step = std::move(kernel);
  death.stack = recorded_stack(*recorder_);
  death.last_words = last_words();
  return death;
}

CaseResult WorkerProcess::lost(const std::string& why) {
  const std::string words = last_words();
  stop();
  ++counters_.losses;
  if (++losses_in_a_row_ >= kLossesMax)
    throw HarnessError(
        "the worker was lost " + std::to_string(kLossesMax) + " times in a row: " + why,
        options_.program + " --package " + options_.arguments.package + (words.empty() ? "" : "\n" + words),
        "check free memory and disk space; if they are fine, report this as a fault of aotifuzz");
  CaseResult result;
  WorkerDeath death;
  death.kind = WorkerDeath::Kind::kLost;
  death.last_words = why + (words.empty() ? "" : ": " + words);
  result.death = std::move(death);
  return result;
}

void WorkerProcess::renew() {
  if (server_ <= 0 || child_ < 0 || fresh_) return;
  // Killing is the one way that also works when a case damaged the process.
  ::kill(child_, SIGKILL);
  WorkerMessage message;
  const auto deadline = Clock::now() + kKillTimeout;
  for (;;) {
    if (read_message(deadline, &message) != Read::kMessage) {
      stop();
      return;
    }
    if (message.kind == WorkerMessage::Kind::kDied) break;
  }
  child_ = -1;
  await_ready();
}

std::string WorkerProcess::last_words() const {
  constexpr off_t kTail = 2000;
  struct stat log {};
  if (log_fd_ < 0 || ::fstat(log_fd_, &log) != 0) return "";
  const off_t from = std::max(log_mark_, log.st_size - kTail);
  if (from >= log.st_size) return "";
  std::string text(static_cast<size_t>(log.st_size - from), '\0');
  const ssize_t n = ::pread(log_fd_, text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return text;
}

void WorkerProcess::stop() {
  close_fd(&request_fd_);
  if (server_ > 0) {
    // It may be removing its temporary folders; after that the whole group goes, whatever state it is in.
    const auto deadline = Clock::now() + kQuitTimeout;
    while (::waitpid(server_, nullptr, WNOHANG) == 0) {
      if (Clock::now() >= deadline) {
        ::kill(-server_, SIGKILL);
        ::waitpid(server_, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
    ::kill(-server_, SIGKILL);
  }
  close_fd(&message_fd_);
  close_fd(&recorder_fd_);
  close_fd(&log_fd_);
  if (recorder_) ::munmap(recorder_, sizeof(FlightRecorder));
  recorder_ = nullptr;
  server_ = child_ = -1;
}

}  // namespace aotifuzz
