#include "tests/e2e/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace aotifuzz::test {
namespace {

namespace fs = std::filesystem;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string content(int fd) {
  struct stat info {};
  ::fstat(fd, &info);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

}  // namespace

Running::Running(const std::vector<std::string>& command, const std::string& folder) : begin_(now()) {
  out_fd_ = ::memfd_create("out", MFD_CLOEXEC);
  err_fd_ = ::memfd_create("err", MFD_CLOEXEC);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(out_fd_, 1);
  ::dup2(err_fd_, 2);
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

Running::~Running() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_fd_);
  ::close(err_fd_);
}

std::string Running::err_so_far() const { return content(err_fd_); }

void Running::send(int signal) const { ::kill(pid_, signal); }

Ended Running::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  Ended ended;
  ended.seconds = now() - begin_;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = content(out_fd_);
  ended.err = content(err_fd_);
  return ended;
}

Ended run_program(const std::vector<std::string>& command, const std::string& folder) {
  return Running(command, folder).wait();
}

std::vector<pid_t> processes_named(const std::string& part_of_command_line) {
  std::vector<pid_t> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string line{std::istreambuf_iterator<char>(in), {}};
    if (line.find(part_of_command_line) != std::string::npos && std::stoi(name) != ::getpid())
      out.push_back(std::stoi(name));
  }
  return out;
}

ScratchFolder::ScratchFolder() {
  path_ = fs::temp_directory_path() / "aotifuzz-e2e-XXXXXX";
  if (!::mkdtemp(path_.data())) throw std::runtime_error("mkdtemp");
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string packed_model(const std::string& name) {
  const char* models = std::getenv("AOTIFUZZ_MODELS");
  if (!models || !*models) return "";
  const std::string path = std::string(models) + "/" + name + ".pt2";
  return fs::exists(path) ? path : "";
}

}  // namespace aotifuzz::test
