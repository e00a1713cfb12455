#include "gate_report/gate_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/error.h"

extern char** environ;

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

std::string worker_program(const std::string& folder, bool cuda) {
  const std::string variable = cuda ? "AOTIFUZZ_GATE_WORKER_CUDA" : "AOTIFUZZ_GATE_WORKER";
  if (const char* given = std::getenv(variable.c_str()); given && *given) {
    if (::access(given, X_OK) != 0)
      throw HarnessError("the worker program cannot be executed", given, "correct " + variable + " or unset it");
    return given;
  }
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = folder.empty() ? self.parent_path() : std::filesystem::path(folder);
  const std::string name = cuda ? "aotifuzz-gate-worker-cuda" : "aotifuzz-gate-worker";
  const std::string path = (beside / name).string();
  if (!error && ::access(path.c_str(), X_OK) == 0) return path;
  if (cuda)
    throw HarnessError(
        "kernels of CUDA are to be judged, and this build has no worker for that", path,
        "build aotifuzz where torch has CUDA and cuda.h is found (cmake says what it misses), or set " + variable);
  throw HarnessError("the worker program is missing", path, "build the target " + name + ", or set " + variable);
}

/// The folder that holds aotifuzz_pack: beside the programs where they are installed, or in the source tree.
std::string pack_folder() {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("AOTIFUZZ_PACK"); given && *given) {
    folders.emplace_back(given);
  } else {
    std::error_code error;
    const fs::path programs = fs::read_symlink("/proc/self/exe", error).parent_path();
    folders = {programs / "../share/aotifuzz", programs / "../harness/pack", programs / "../../harness/pack"};
  }
  std::error_code error;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / "aotifuzz_pack/fakes.py", error)) return fs::canonical(folder, error).string();
  throw HarnessError("aotifuzz_pack, which runs fakes in Python, is not found", folders.back().string(),
                     "set AOTIFUZZ_PACK to the folder that holds aotifuzz_pack");
}

std::vector<std::string> words_of(const GateRequest& request) {
  const bool cuda = request.device != "cpu";
  std::vector<std::string> words = {worker_program(request.worker_folder, cuda), "--jobs", std::to_string(request.jobs),
                                    "--step-timeout-ms", std::to_string(request.step_timeout.count())};
  const auto add = [&](const char* flag, const std::string& value) {
    words.emplace_back(flag);
    words.push_back(value);
  };
  if (cuda) add("--device", request.device);
  if (!request.ops.empty()) add("--ops", request.ops);
  if (request.use_python) {
    words.emplace_back("--use-python");
    add("--pack", pack_folder());
    if (!request.python.empty()) add("--python", request.python);
    for (const std::string& module : request.fakes) add("--fakes", module);
  }
  for (const std::string& library : request.load) add("--load", library);
  if (!request.spec.empty()) add("--spec", request.spec);
  if (!request.calls.empty()) add("--calls", request.calls);
  for (const std::string& name : request.only) add("--only", name);
  for (const int64_t constant : request.constants) add("--constant", std::to_string(constant));
  if (request.values) words.emplace_back("--values");
  if (request.init_spec) words.emplace_back("--init-spec");
  if (request.lenient) words.emplace_back("--lenient");
  return words;
}

/// The worker as a process: its messages on a pipe, what else it prints in a memory file.
class Worker {
 public:
  explicit Worker(const GateRequest& request) {
    std::vector<std::string> words = words_of(request);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    log_ = memfd_create("gate-worker-stderr", MFD_CLOEXEC);
    if (log_ < 0 || pipe2(ends, O_CLOEXEC) != 0)
      throw HarnessError("no pipe to the worker", strerror(errno), "raise the limit on open files");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, log_, STDERR_FILENO);
    const int failed = posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    messages_ = ends[0];
    if (failed) throw HarnessError("the worker program cannot be started", words[0], strerror(failed));
  }
  ~Worker() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      wait();
    }
    close(messages_);
    close(log_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  enum class Read { kLine, kEnd, kTimeout };
  Read line(std::chrono::milliseconds limit, std::string* out) {
    const auto deadline = Clock::now() + limit;
    for (;;) {
      if (const size_t end = pending_.find('\n', scanned_); end != std::string::npos) {
        *out = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        scanned_ = 0;
        return Read::kLine;
      }
      scanned_ = pending_.size();
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return Read::kTimeout;
      pollfd fd{messages_, POLLIN, 0};
      if (poll(&fd, 1, static_cast<int>(left)) <= 0) continue;
      char buffer[1 << 16];
      const ssize_t n = read(messages_, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return Read::kEnd;
      pending_.append(buffer, static_cast<size_t>(n));
    }
  }
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }
  /// The first lines of what it printed, without the frames of stacks.
  std::string words() const {
    constexpr size_t kReadMax = 16'384;
    constexpr int kLinesMax = 15;
    std::string text(kReadMax, '\0');
    const ssize_t n = pread(log_, text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    std::string out;
    int lines = 0;
    for (size_t at = 0; at < text.size() && lines < kLinesMax;) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty() || line.starts_with("frame #") || line.starts_with("Exception raised from")) continue;
      out += "\n  " + line;
      ++lines;
    }
    return out;
  }

 private:
  pid_t pid_ = -1;
  int messages_ = -1, log_ = -1;
  std::string pending_;
  size_t scanned_ = 0;
};

[[noreturn]] void throw_death(Worker* worker, const GateRequest& request, bool loaded) {
  const int status = worker->wait();
  const std::string words = worker->words();
  const std::string how = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                              : "exit code " + std::to_string(WEXITSTATUS(status));
  const bool registered_twice = words.find("Tried to register") != std::string::npos ||
                                words.find("Only a single TORCH_LIBRARY") != std::string::npos;
  throw HarnessError(
      (loaded ? "the worker died: " : "the library ends the process that loads it: ") + how + words, request.ops,
      registered_twice ? "it registers what another library registered before: leave out --load of that library"
      : loaded         ? "report it with the command that led here"
                       : "its static initialisers run when it is loaded: mend what the lines above say");
}

}  // namespace

GateRun run_gate_worker(const GateRequest& request, void (*progress)(int, int)) {
  Worker worker(request);
  GateRun run;
  bool loaded = false;
  std::map<std::string, GateOperator> operators;
  std::string line;
  int done = 0;
  for (;;) {
    // Between two operators' lines lie at most a few calls, each of which the worker ends in time.
    const auto limit = loaded ? 20 * request.step_timeout : request.load_timeout;
    const auto read = worker.line(limit, &line);
    if (read == Worker::Read::kEnd) throw_death(&worker, request, loaded);
    if (read == Worker::Read::kTimeout)
      throw HarnessError(loaded ? "the worker says nothing any more" : "the library does not load in time", request.ops,
                         "run the worker by hand with the same library to see why");
    auto message = parse_gate_message(line);
    if (!message)
      throw HarnessError(message.error().what, message.error().where, "the worker is of another build: rebuild both");
    switch (message->kind) {
      case GateMessage::Kind::kLibrary:
        run.library = std::move(message->library);
        loaded = true;
        break;
      case GateMessage::Kind::kOperator: {
        GateOperator& op = operators[message->op.name];
        op.name = message->op.name;
        const bool ended = op.is_through();
        op.merge(std::move(message->op));
        if (progress && !ended && op.is_through()) progress(++done, run.library.operators);
        break;
      }
      case GateMessage::Kind::kFatal:
        worker.wait();
        throw HarnessError(message->what, message->where, message->to_do);
      case GateMessage::Kind::kDone:
        worker.wait();
        for (auto& [name, op] : operators) run.operators.push_back(std::move(op));
        return run;
    }
  }
}

}  // namespace aotifuzz
