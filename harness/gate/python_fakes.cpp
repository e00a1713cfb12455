#include "gate/python_fakes.h"

#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"

extern char** environ;

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

/// Of torch in Python; from a cold disk it takes a minute.
constexpr std::chrono::seconds kTorchLimit{120};
/// The descriptor that the process finds its socket on.
constexpr int kControlFd = 3;

/// python3 of the environment whose torch is loaded: <root>/lib/python3.X/site-packages/torch/lib/libtorch_cpu.so.
std::string python_beside_torch() {
  std::string library;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const std::string name = info->dlpi_name;
        if (!name.ends_with("/libtorch_cpu.so")) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &library);
  fs::path folder = fs::path(library).lexically_normal();
  for (int i = 0; i < 6; ++i) folder = folder.parent_path();
  const fs::path python = folder / "bin/python3";
  return ::access(python.c_str(), X_OK) == 0 ? python.string() : "";
}

std::string without_local_part(const std::string& version) { return version.substr(0, version.find('+')); }

std::string seconds_text(std::chrono::milliseconds limit) { return std::to_string(limit.count() / 1000) + " s"; }

std::string list_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

SourcePlace place_of(const json& in) { return {in.value("file", ""), in.value("line", 0), in.value("function", "")}; }

}  // namespace

PythonFakes::PythonFakes(const PythonOptions& options, const std::vector<std::string>& libraries,
                         const std::vector<std::string>& operators, std::chrono::milliseconds import_limit)
    : options_(options) {
  start(libraries, operators);
  const std::string first = line(kTorchLimit, "importing torch");
  const json hello = json::parse(first, nullptr, false);
  const std::string give = "give a Python that has the torch of this worker with --python";
  if (!hello.is_object()) throw HarnessError("Python cannot be used: " + trouble_, program_, give);
  if (hello.contains("error")) throw HarnessError(hello.value("error", ""), program_, give);
  const std::string theirs = hello.value("torch", "");
  if (without_local_part(theirs) != without_local_part(TORCH_VERSION))
    throw HarnessError("Python has torch " + theirs + ", and the worker was built with " + TORCH_VERSION, program_,
                       give + ", or build aotifuzz against that torch");
  if (send(control_, "g", 1, MSG_NOSIGNAL) != 1) trouble_ = death();
  const std::string text = line(import_limit, "importing " + list_text(options_.modules));
  if (!text.empty()) take_hello(text);
}

PythonFakes::~PythonFakes() {
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (control_ >= 0) close(control_);
  if (log_ >= 0) close(log_);
}

void PythonFakes::start(const std::vector<std::string>& libraries, const std::vector<std::string>& operators) {
  program_ = options_.python.empty() ? python_beside_torch() : options_.python;
  if (program_.empty()) program_ = "python3";
  std::vector<std::string> words = {program_, "-m", "aotifuzz_pack.fakes", "--control", std::to_string(kControlFd)};
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      words.emplace_back(flag);
      words.push_back(value);
    }
  };
  add("--library", libraries);
  add("--module", options_.modules);
  add("--operator", operators);
  std::vector<std::string> variables;
  std::string path = "PYTHONPATH=" + options_.pack;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    if (text.starts_with("PYTHONPATH="))
      path += ":" + text.substr(strlen("PYTHONPATH="));
    else
      variables.push_back(text);
  }
  variables.push_back(path);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };
  std::vector<char*> argv = pointers(words), envp = pointers(variables);
  int ends[2];
  log_ = memfd_create("python-fakes-stderr", MFD_CLOEXEC);
  if (log_ < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw HarnessError("no socket to Python", strerror(errno), "raise the limit on open files");
  // Never the number that the process is to find it on: a descriptor that stays where it is would be closed.
  const int theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, kControlFd + 1);
  close(ends[1]);
  control_ = ends[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log_, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs, kControlFd);
  // A group of its own, so that what modules start ends with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = posix_spawnp(&pid_, program_.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  if (failed) {
    pid_ = -1;
    throw HarnessError("Python cannot be started (" + std::string(strerror(failed)) + ")", program_,
                       "give its path with --python");
  }
}

std::string PythonFakes::line(std::chrono::milliseconds limit, const std::string& doing) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (const size_t end = pending_.find('\n'); end != std::string::npos) {
      const std::string out = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return out;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      trouble_ = doing + " did not end within " + seconds_text(limit) + " (--timeout sets it)";
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      pid_ = -1;
      return "";
    }
    pollfd fd{control_, POLLIN, 0};
    if (poll(&fd, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[1 << 16];
    const ssize_t n = read(control_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      trouble_ = doing + " ended the Python process: " + death();
      return "";
    }
    pending_.append(buffer, static_cast<size_t>(n));
  }
}

std::string PythonFakes::death() {
  constexpr size_t kReadMax = 2048;
  constexpr int kLinesMax = 3;
  constexpr int kLooks = 100;
  constexpr int kLookUs = 20'000;
  int status = 0;
  pid_t done = 0;
  for (int i = 0; i < kLooks && (done = waitpid(pid_, &status, WNOHANG)) == 0; ++i) usleep(kLookUs);
  if (done == 0) {  // it closed the socket and lives on
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  kill(-pid_, SIGKILL);  // what it started
  pid_ = -1;
  std::string out = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                        : "exit code " + std::to_string(WEXITSTATUS(status));
  const off_t size = lseek(log_, 0, SEEK_END);
  std::string text(std::min<size_t>(kReadMax, size > 0 ? static_cast<size_t>(size) : 0), '\0');
  if (pread(log_, text.data(), text.size(), size - static_cast<off_t>(text.size())) < 0) text.clear();
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (const std::string one = text.substr(at, end - at); !one.empty() && !one.starts_with("frame #"))
      lines.push_back(one);
    at = end + 1;
  }
  for (size_t i = lines.size() - std::min<size_t>(lines.size(), kLinesMax); i < lines.size(); ++i)
    out += "; " + lines[i];
  return out;
}

void PythonFakes::take_hello(const std::string& text) {
  try {
    const json hello = json::parse(text);
    for (const auto& [path, error] : hello.at("libraries").items())
      trouble_ += (trouble_.empty() ? "" : "; ") + ("Python cannot load " + path) + ": " + error.get<std::string>();
    for (const auto& [module, error] : hello.at("modules").items()) {
      const std::string words = error;
      imported_[module] = words.empty();
      if (!words.empty())
        trouble_ += (trouble_.empty() ? "" : "; ") + ("module " + module) + " was not imported: " + words;
    }
    for (const auto& [name, in] : hello.at("operators").items()) {
      if (in.contains("error")) continue;
      PythonOperator& op = operators_[name];
      op.schema = in.at("schema");
      op.defined_in_python = in.at("python");
      op.fake = in.at("fake");
      op.kernel = in.at("kernel");
      op.fake_place = place_of(in.at("place"));
      op.kernel_place = place_of(in.value("kernel_place", json::object()));
    }
    serves_ = true;
  } catch (const json::exception& error) {
    throw HarnessError("Python answers in another form: " + std::string(error.what()), options_.pack,
                       "aotifuzz and aotifuzz_pack are of different versions: install both from one source");
  }
}

bool PythonFakes::imported(const std::string& module) const {
  return std::any_of(imported_.begin(), imported_.end(), [&](const auto& known) {
    return known.second && (known.first == module || fs::path(known.first).filename() == module + ".py");
  });
}

int PythonFakes::connect() {
  int ends[2];
  if (!serves_ || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
  char byte = 'c';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
  const bool sent = sendmsg(control_, &message, MSG_NOSIGNAL) == 1;
  close(ends[1]);
  if (sent) return ends[0];
  close(ends[0]);
  serves_ = false;
  trouble_ = "the Python process that runs fakes ended: " + death();
  return -1;
}

}  // namespace aotifuzz
