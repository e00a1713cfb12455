#include "campaign/worker_link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>
#include <vector>

#include "core/error.h"

namespace aotifuzz {
namespace {

using std::chrono::milliseconds;

// A message holds verdicts of one case: megabytes mean that something else is writing.
constexpr size_t kLineMax = size_t{64} << 20;
constexpr off_t kLogMax = 1 << 20;
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

void set_environment() {
  // Kernels ask for several threads however small the work. Threads that spin while they wait make a case ten times as
  // slow as soon as anything else runs on the machine. A policy that the user set stays.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  const char* torch = std::getenv("AOTIFUZZ_TORCH_LIB");
  if (!torch || !*torch) return;
  const char* old = std::getenv("LD_LIBRARY_PATH");
  const std::string path = old && *old ? std::string(torch) + ":" + old : torch;
  if (!old || std::string_view(old).substr(0, std::strlen(torch)) != torch)
    ::setenv("LD_LIBRARY_PATH", path.c_str(), 1);
}

}  // namespace

std::string given_worker_program(const std::string& device) {
  const char* variable = device == "cuda" ? "AOTIFUZZ_WORKER_CUDA" : "AOTIFUZZ_WORKER";
  const char* given = std::getenv(variable);
  if (!given || !*given) return "";
  if (::access(given, X_OK) != 0)
    throw HarnessError("the worker program cannot be executed", given,
                       std::string("correct ") + variable + " or unset it");
  return given;
}

std::string find_worker_program(const std::string& device, const std::string& folder) {
  if (std::string given = given_worker_program(device); !given.empty()) return given;
  const bool cuda = device == "cuda";
  const std::string name = cuda ? "aotifuzz-worker-cuda" : "aotifuzz-worker";
  std::error_code error;
  const std::filesystem::path beside = folder.empty()
                                           ? std::filesystem::read_symlink("/proc/self/exe", error).parent_path()
                                           : std::filesystem::path(folder);
  const std::string path = (beside / name).string();
  if (!error && ::access(path.c_str(), X_OK) == 0) return path;
  if (cuda)
    throw HarnessError("the package runs on CUDA, and this build has no worker for that", path,
                       "build aotifuzz where torch has CUDA and cuda.h is found (cmake says what it misses), or set "
                       "AOTIFUZZ_WORKER_CUDA");
  throw HarnessError("the worker program is missing", path, "build the target " + name + ", or set AOTIFUZZ_WORKER");
}

WorkerLink::WorkerLink(const std::string& program, const WorkerArguments& arguments,
                       const std::vector<std::string>& wrapper) {
  std::vector<std::string> words = wrapper;
  words.push_back(program);
  for (const std::string& word : arguments.print()) words.push_back(word);
  try {
    open_files();
    int request[2], message[2];
    if (::pipe2(request, O_CLOEXEC) != 0 || ::pipe2(message, O_CLOEXEC) != 0) check_fd(-1, "pipe2");
    for (int* fd : {&request[0], &request[1], &message[0], &message[1]}) *fd = move_up(*fd);
    request_fd_ = request[1];
    message_fd_ = message[0];
    execute(std::move(words), request[0], message[1]);
    ::close(request[0]);
    ::close(message[1]);
    check_fd(pid_, "fork");
  } catch (...) {
    release();
    throw;
  }
  ::setpgid(pid_, pid_);  // here too: whoever comes first, a kill of the group is safe from now on
}

void WorkerLink::open_files() {
  recorder_fd_ = move_up(check_fd(::memfd_create("aotifuzz-recorder", MFD_CLOEXEC), "memfd_create"));
  log_fd_ = move_up(check_fd(::memfd_create("aotifuzz-log", MFD_CLOEXEC), "memfd_create"));
  ::fcntl(log_fd_, F_SETFL, O_APPEND);
  if (::ftruncate(recorder_fd_, sizeof(FlightRecorder)) != 0) check_fd(-1, "ftruncate");
  void* memory = ::mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, recorder_fd_, 0);
  if (memory == MAP_FAILED) check_fd(-1, "mmap");
  recorder_ = new (memory) FlightRecorder;
}

void WorkerLink::execute(std::vector<std::string> words, int request_fd, int message_fd) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int null_fd = move_up(check_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open"));
  set_environment();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
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
    ::dup2(request_fd, WorkerArguments::kRequestFd);
    ::dup2(message_fd, WorkerArguments::kMessageFd);
    ::dup2(recorder_fd_, WorkerArguments::kRecorderFd);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(null_fd);
}

WorkerLink::~WorkerLink() {
  close_fd(&request_fd_);
  if (pid_ > 0) {
    // It may be removing its temporary folders; after that the whole group goes, whatever state it is in.
    wait(kQuitTimeout);
    kill();
  }
  release();
}

void WorkerLink::release() {
  for (int* fd : {&request_fd_, &message_fd_, &recorder_fd_, &log_fd_}) close_fd(fd);
  if (recorder_) ::munmap(recorder_, sizeof(FlightRecorder));
  recorder_ = nullptr;
}

void WorkerLink::kill() { ::kill(-pid_, SIGKILL); }

bool WorkerLink::ended() {
  if (ended_) return true;
  const pid_t ended = ::waitpid(pid_, &status_, WNOHANG);
  ended_ = ended == pid_ || (ended < 0 && errno != EINTR);
  return ended_;
}

int WorkerLink::wait(milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!ended()) {
    if (Clock::now() >= deadline) {
      kill();
      ::waitpid(pid_, &status_, 0);
      ended_ = true;
      break;
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  return status_;
}

WorkerLink::Read WorkerLink::read(Clock::time_point deadline, WorkerMessage* message) {
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

bool WorkerLink::send(const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::write(request_fd_, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

void WorkerLink::begin_case() {
  struct stat log {};
  ::fstat(log_fd_, &log);
  if (log.st_size > kLogMax && ::ftruncate(log_fd_, 0) == 0) log.st_size = 0;
  log_mark_ = log.st_size;
}

std::string WorkerLink::last_words() const {
  constexpr off_t kTail = 2000;
  struct stat log {};
  if (::fstat(log_fd_, &log) != 0) return "";
  const off_t from = std::max(log_mark_, log.st_size - kTail);
  if (from >= log.st_size) return "";
  std::string text(static_cast<size_t>(log.st_size - from), '\0');
  const ssize_t n = ::pread(log_fd_, text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.pop_back();
  return text;
}

}  // namespace aotifuzz
