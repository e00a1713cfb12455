#include "campaign/engine_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

int check_fd(int fd, const char* call) {
  if (fd < 0)
    throw HarnessError(std::string(call) + " failed: " + std::strerror(errno), "starting libFuzzer",
                       "raise the limit on open files or free memory");
  return fd;
}

/// Out of the way of the descriptors that the engine finds open.
int move_up(int fd) {
  const int moved = ::fcntl(check_fd(fd, "socketpair"), F_DUPFD_CLOEXEC, 16);
  ::close(fd);
  return check_fd(moved, "fcntl");
}

/// Its own limits on time and memory of a unit are off: the worker's hold. Nor does it keep slow units and those at
/// which it died itself, which it would put into the folder that the user works in.
std::vector<std::string> words_of(const EngineOptions& options) {
  // 0 would have libFuzzer take the time.
  const uint64_t seed = options.seed % 0xffffffff == 0 ? 1 : options.seed % 0xffffffff;
  std::vector<std::string> words = {options.program,
                                    "-seed=" + std::to_string(seed),
                                    "-max_len=" + std::to_string(kEngineUnitMax),
                                    "-len_control=0",
                                    "-timeout=0",
                                    "-rss_limit_mb=0",
                                    "-detect_leaks=0",
                                    "-report_slow_units=2000000000",
                                    "-handle_segv=0",
                                    "-handle_bus=0",
                                    "-handle_abrt=0",
                                    "-handle_ill=0",
                                    "-handle_fpe=0",
                                    "-handle_xfsz=0",
                                    "-handle_int=0",
                                    "-handle_term=0",
                                    "-verbosity=0"};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  words.push_back(options.corpus);
  return words;
}

}  // namespace

std::string find_engine_program() {
  if (const char* given = std::getenv("AOTIFUZZ_ENGINE"); given && *given) {
    if (::access(given, X_OK) == 0) return given;
    throw HarnessError("the engine program cannot be executed", given, "correct AOTIFUZZ_ENGINE or unset it");
  }
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "aotifuzz-engine";
  return !error && ::access(path.c_str(), X_OK) == 0 ? path.string() : "";
}

EngineProcess::EngineProcess(EngineOptions options) : options_(std::move(options)) {
  if (options_.program.empty()) options_.program = find_engine_program();
  if (options_.program.empty())
    throw HarnessError("this build has no libFuzzer engine", "aotifuzz-engine beside aotifuzz",
                       "install libclang-rt-19-dev and build the target aotifuzz-engine, or use --engine random");
  make_folder(options_.corpus);
  try {
    start();
  } catch (...) {
    for (int fd : {fd_, log_fd_})
      if (fd >= 0) ::close(fd);
    throw;
  }
}

void EngineProcess::start() {
  log_fd_ = check_fd(::memfd_create("aotifuzz-engine-log", MFD_CLOEXEC), "memfd_create");
  log_fd_ = move_up(log_fd_);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) check_fd(-1, "socketpair");
  fd_ = move_up(ends[0]);
  const int theirs = move_up(ends[1]);
  std::vector<std::string> words = words_of(options_);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    // Only async-signal-safe calls between fork and exec. A group of its own: Ctrl-C is for us.
    ::setpgid(0, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(log_fd_, 1);
    ::dup2(log_fd_, 2);
    ::dup2(theirs, kEngineReadFd);
    ::dup2(theirs, kEngineWriteFd);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(theirs);
  check_fd(pid_, "fork");
}

EngineProcess::~EngineProcess() {
  // It keeps nothing that is not on disk already.
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  for (int fd : {fd_, log_fd_})
    if (fd >= 0) ::close(fd);
}

EngineRequest EngineProcess::next() {
  EngineRequest request;
  if (!receive_request(fd_, &request)) fail();
  if (!asked_) require_known_flags();
  asked_ = true;
  return request;
}

void EngineProcess::require_known_flags() const {
  const std::string words = last_words();
  const size_t at = words.find("unrecognized flag");
  if (at == std::string::npos) return;
  throw UsageError("libFuzzer does not know a flag", "-- " + words.substr(at, words.find('\n', at) - at),
                   "see `aotifuzz fuzz PACKAGE -- -help=1`");
}

std::string EngineProcess::last_words() const {
  constexpr off_t kTail = 2000;
  struct stat log {};
  if (::fstat(log_fd_, &log) != 0 || log.st_size == 0) return "";
  const off_t from = std::max<off_t>(0, log.st_size - kTail);
  std::string text(static_cast<size_t>(log.st_size - from), '\0');
  const ssize_t n = ::pread(log_fd_, text.data(), text.size(), from);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void EngineProcess::fail() {
  const std::string words = last_words();
  throw HarnessError("libFuzzer ended" + (words.empty() ? "" : ": " + words), options_.program,
                     "correct the flags after --, see that the folder " + options_.corpus +
                         " can be written to, or use --engine random");
}

}  // namespace aotifuzz
