// The worker program itself, on real packages: those that tests/run.sh packs (folder in AOTIFUZZ_MODELS).
#include "worker/fork_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>

#include "core/memory_fault.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

/// A worker on pipes; one message at a time.
class Worker {
 public:
  explicit Worker(const std::string& package, std::vector<std::string> extra = {}) {
    int request[2], message[2];
    EXPECT_EQ(pipe(request), 0);
    EXPECT_EQ(pipe(message), 0);
    // Above the numbers that the worker wants, so that dup2 never hits one that is still needed.
    const int request_end = fcntl(request[0], F_DUPFD, 20), message_end = fcntl(message[1], F_DUPFD, 20);
    const int recorder_fd = fcntl(memfd_create("recorder", 0), F_DUPFD, 20);
    EXPECT_EQ(ftruncate(recorder_fd, sizeof(FlightRecorder)), 0);
    recorder =
        new (mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, recorder_fd, 0)) FlightRecorder;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "aotifuzz-worker";
    std::vector<std::string> words = {program, "--package", package};
    words.insert(words.end(), extra.begin(), extra.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid = fork();
    if (pid == 0) {
      dup2(request_end, WorkerArguments::kRequestFd);
      dup2(message_end, WorkerArguments::kMessageFd);
      dup2(recorder_fd, WorkerArguments::kRecorderFd);
      for (int fd = 6; fd < 40; ++fd) close(fd);
      execv(argv[0], argv.data());
      _exit(127);
    }
    for (int fd : {request_end, message_end, recorder_fd, request[0], message[1]}) close(fd);
    to_worker = request[1];
    from_worker = message[0];
  }
  ~Worker() {
    close(to_worker);
    if (pid > 0) waitpid(pid, nullptr, 0);
    close(from_worker);
  }

  WorkerMessage next(int timeout_ms = 60'000) {
    while (buffer.find('\n') == std::string::npos) {
      pollfd fd{from_worker, POLLIN, 0};
      char chunk[65536];
      const ssize_t n = poll(&fd, 1, timeout_ms) > 0 ? read(from_worker, chunk, sizeof(chunk)) : 0;
      if (n <= 0) {
        WorkerMessage silence;
        silence.kind = WorkerMessage::Kind::kFatal;
        silence.what = "no message";
        return silence;
      }
      buffer.append(chunk, static_cast<size_t>(n));
    }
    const size_t end = buffer.find('\n');
    const auto parsed = parse_message(buffer.substr(0, end));
    buffer.erase(0, end + 1);
    EXPECT_TRUE(parsed);
    return parsed ? *parsed : WorkerMessage{};
  }
  void send(const std::string& case_text) {
    const std::string request = print_case_request(++id, case_text);
    EXPECT_EQ(write(to_worker, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  }
  WorkerMessage run(const std::string& case_text) {
    send(case_text);
    return next();
  }
  /// Hello and the first ready.
  WorkerHello start() {
    const WorkerMessage hello = next();
    EXPECT_EQ(hello.kind, WorkerMessage::Kind::kHello) << hello.what;
    const WorkerMessage ready = next();
    EXPECT_EQ(ready.kind, WorkerMessage::Kind::kReady);
    child = ready.pid;
    return hello.hello;
  }

  FlightRecorder* recorder = nullptr;
  pid_t pid = -1, child = -1;
  int to_worker = -1, from_worker = -1;
  uint64_t id = 0;
  std::string buffer;
};

const RunSummary* find_run(const CaseReport& report, std::string_view name) {
  for (const RunSummary& summary : report.runs)
    if (summary.run == name) return &summary;
  return nullptr;
}

class ForkServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* models = std::getenv("AOTIFUZZ_MODELS");
    if (!models) GTEST_SKIP() << "AOTIFUZZ_MODELS is not set: run tests/run.sh, which packs the models";
    folder_ = models;
  }
  std::string package(const std::string& name) const { return folder_ + "/" + name + ".pt2"; }
  std::string folder_;
};

constexpr const char* kGood =
    "aotifuzz-case 1\ninput x f32[3,7,16] normal(0,1,seed=1)\ninput idx i64[3,7] ints(0,9,seed=2)\n";
/// More rows of x than indices: the package reads past the end of the indices.
constexpr const char* kOverrun = "aotifuzz-case 1\ninput x f32[3,700,16] const(1)\ninput idx i64[3,5] const(1)\n";

TEST_F(ForkServerTest, SaysHelloAndServesCases) {
  Worker worker(package("example.embedding_mlp"));
  const WorkerHello hello = worker.start();
  EXPECT_EQ(hello.pid, worker.pid);
  EXPECT_FALSE(hello.oracles.empty());
  EXPECT_THAT(hello.torch_version, HasSubstr("."));
  for (int i = 0; i < 3; ++i) {
    const WorkerMessage message = worker.run(kGood);
    ASSERT_EQ(message.kind, WorkerMessage::Kind::kReport);
    EXPECT_TRUE(message.report.reference_accepts);
    ASSERT_TRUE(find_run(message.report, "subject"));
    EXPECT_EQ(find_run(message.report, "subject")->outcome.kind, OutcomeKind::kFinished);
    for (const Verdict& verdict : message.report.verdicts)
      EXPECT_NE(verdict.status, VerdictStatus::kFail) << verdict.reason;
  }
}

TEST_F(ForkServerTest, AnOverReadKillsTheProcessAndTheNextOneServesWithinMilliseconds) {
  Worker worker(package("example.embedding_mlp"));
  worker.start();
  worker.run(kGood);
  worker.send(kOverrun);
  const WorkerMessage died = worker.next();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(died.kind, WorkerMessage::Kind::kDied);
  EXPECT_EQ(died.pid, worker.child);
  EXPECT_EQ(died.signal, SIGSEGV);
  EXPECT_EQ(worker.recorder->case_id, worker.id);
  EXPECT_EQ(worker.recorder->stage, static_cast<int>(Stage::kSubject));
  EXPECT_EQ(worker.recorder->fault_signal, SIGSEGV);
  EXPECT_NE(worker.recorder->fault_address, 0u);
  const std::optional<MemoryFault> fault = recorded_memory_fault(*worker.recorder);
  ASSERT_TRUE(fault);
  EXPECT_EQ(memory_fault_key(*fault), "read past end of input idx");
  EXPECT_THAT(fault->kernel, HasSubstr("embedding"));
  EXPECT_EQ(fault->call, 1);
  EXPECT_EQ(fault->bytes, 3u * 5 * 8);
  EXPECT_THAT(recorded_stack(*worker.recorder), HasSubstr("embedding")) << "the package's own kernel by name";
  EXPECT_THAT(recorded_stack(*worker.recorder), HasSubstr("run_impl"));
  EXPECT_EQ(worker.next().kind, WorkerMessage::Kind::kReady);
  EXPECT_EQ(worker.run(kGood).kind, WorkerMessage::Kind::kReport);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2)) << "a fork, not a start";
}

TEST_F(ForkServerTest, WithoutTheGuardTheSameOverReadIsLuck) {
  Worker worker(package("example.embedding_mlp"), {"--allocator", "caching"});
  worker.start();
  const WorkerMessage message =
      worker.run("aotifuzz-case 1\ninput x f32[3,9,16] const(1)\ninput idx i64[3,8] const(1)\n");
  EXPECT_EQ(message.kind, WorkerMessage::Kind::kReport);
}

/// One letter, as in /proc/PID/stat: 'R', 'S', 'T'...; 'X' when there is no such process.
char process_state(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(')');
  return name_end == text.npos || name_end + 2 >= text.size() ? 'X' : text[name_end + 2];
}

TEST_F(ForkServerTest, AKilledChildIsReplacedAndWhatItLeftInThePipeIsDropped) {
  Worker worker(package("example.embedding_mlp"));
  worker.start();
  kill(worker.child, SIGSTOP);
  // The signal is under way when kill() returns: a process that still runs would take the first bytes with it.
  while (process_state(worker.child) != 'T') usleep(1000);
  worker.send(kGood);
  kill(worker.child, SIGKILL);
  const WorkerMessage died = worker.next();
  EXPECT_EQ(died.signal, SIGKILL);
  EXPECT_EQ(worker.next().kind, WorkerMessage::Kind::kReady);
  // It may have read half of the request; the parent sends it again.
  worker.send(kGood);
  EXPECT_EQ(worker.next().kind, WorkerMessage::Kind::kReport);
}

TEST_F(ForkServerTest, RefusalsSayWhyAndChecksCanBeOnAndOffInOneProcess) {
  Worker worker(package("example.embedding_mlp"));
  worker.start();
  const std::string one = "aotifuzz-case 1\ninput x f32[1,7,16] const(1)\ninput idx i64[1,7] const(1)\n";
  const WorkerMessage off = worker.run(one), on = worker.run(one + "run checks=on\n"), again = worker.run(one);
  for (const WorkerMessage* message : {&off, &again}) {
    ASSERT_TRUE(find_run(message->report, "subject"));
    EXPECT_EQ(find_run(message->report, "subject")->outcome.kind, OutcomeKind::kFinished);
  }
  ASSERT_TRUE(find_run(on.report, "subject"));
  EXPECT_EQ(find_run(on.report, "subject")->outcome.kind, OutcomeKind::kRejected);
  EXPECT_THAT(find_run(on.report, "subject")->outcome.message, HasSubstr("too small"));
}

TEST_F(ForkServerTest, APackageThatIsNoneIsFatalWithWhatToDo) {
  Worker worker(folder_ + "/nothing-here.pt2");
  const WorkerMessage message = worker.next();
  EXPECT_EQ(message.kind, WorkerMessage::Kind::kFatal);
  EXPECT_THAT(message.where, HasSubstr("nothing-here.pt2"));
  EXPECT_NE(message.to_do, "");
}

TEST_F(ForkServerTest, EndsWithItsParentAlsoWhenAProcessIsStuck) {
  pid_t server = -1;
  {
    Worker worker(package("example.embedding_mlp"));
    worker.start();
    kill(worker.child, SIGSTOP);  // as if stuck in a case
    server = worker.pid;
  }  // closes the pipes and waits
  EXPECT_NE(kill(server, 0), 0);
}

TEST_F(ForkServerTest, LeavesNoUnpackedFolderBehindWhenKilled) {
  const auto folders = [] {
    size_t count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/tmp", ignored))
      if (std::filesystem::exists(entry.path() / "example.embedding_mlp" / "data", ignored)) ++count;
    return count;
  };
  const size_t before = folders();
  Worker worker(package("example.embedding_mlp"));
  worker.start();
  EXPECT_EQ(worker.run(kGood).kind, WorkerMessage::Kind::kReport) << "what was unpacked is gone already";
  kill(worker.pid, SIGKILL);
  EXPECT_LE(folders(), before);
}

}  // namespace
}  // namespace aotifuzz
