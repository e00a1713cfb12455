// The test program itself plays the worker when it is started as one: before main, so that GoogleTest never sees it.
#include "tests/campaign/fake_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "store/case_text.h"

namespace aotifuzz::test {
namespace {

constexpr int kNoMoreCases = 77;

void say(const std::string& text) {
  if (::write(WorkerArguments::kMessageFd, text.data(), text.size()) < 0) ::_exit(9);
}

std::string read_line() {
  std::string line;
  char c;
  while (::read(WorkerArguments::kRequestFd, &c, 1) == 1) {
    if (c == '\n') return line;
    line += c;
  }
  ::_exit(kNoMoreCases);
}

/// As a fork server does with what a dead child left in the pipe.
void drop_pending() {
  char dropped[4096];
  for (pollfd waiting{WorkerArguments::kRequestFd, POLLIN, 0}; ::poll(&waiting, 1, 0) > 0 && waiting.revents & POLLIN;)
    if (::read(WorkerArguments::kRequestFd, dropped, sizeof(dropped)) <= 0) return;
}

[[noreturn]] void lose_device(FlightRecorder* recorder) {
  recorder->set_step("launch 2: triton_poi_fused_add_0");
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::kDied;
  message.pid = ::getpid();
  message.status = 102;
  message.case_id = recorder->case_id;
  message.device_error = "illegal memory access";
  message.memory_fault = true;
  say(print_message(message));
  ::_exit(102);
}

void report(uint64_t id, bool fails, const std::string& oracle = "close") {
  WorkerMessage message;
  message.kind = WorkerMessage::Kind::kReport;
  message.report.id = id;
  message.report.reference_accepts = true;
  Verdict verdict;
  verdict.oracle = oracle;
  if (fails) {
    verdict.status = VerdictStatus::kFail;
    verdict.cls = VerdictClass::kWrongResult;
    verdict.fault = true;
    verdict.signature = "wrong-result output 0";
  }
  message.report.verdicts = {verdict};
  say(print_message(message));
}

[[noreturn]] void serve(FlightRecorder* recorder) {
  for (;;) {
    const auto request = parse_request_line(read_line());
    if (!request || request->kind == WorkerRequest::Kind::kQuit) ::_exit(kNoMoreCases);
    std::string text(request->bytes, '\0');
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = ::read(WorkerArguments::kRequestFd, text.data() + done, text.size() - done);
      if (n <= 0) ::_exit(0);
      done += static_cast<size_t>(n);
    }
    recorder->begin_case(request->id);
    const auto c = parse_case(text);
    const int64_t what = c ? c->inputs[0].sizes[0] : -1;
    recorder->set_stage(Stage::kReference);
    if (what == kDieInReference) ::raise(SIGSEGV);
    recorder->reference_done = recorder->reference_accepts = 1;
    recorder->set_stage(Stage::kSubject);
    recorder->set_step("cpp_fused_add_0");
    switch (what) {
      case kSegfault:
        ::raise(SIGSEGV);
        break;
      case kHang:
        ::sleep(1000);
        break;
      case kSlow:
        ::usleep(400'000);
        break;
      case kGarbage:
        say("{\"report\": nonsense\n");
        break;
      case kServerDies:
        ::kill(::getppid(), SIGKILL);
        ::sleep(1000);
        break;
      case kKilled:
        ::raise(SIGKILL);
        break;
      case kReportThenDie:
        report(request->id, false);
        ::raise(SIGSEGV);
        break;
      case kRecycle:
        report(request->id, false);
        ::_exit(0);
      case kDeviceFault:
        lose_device(recorder);
      case kTellCare:
        report(request->id, false, request->careful ? "careful" : "quick");
        continue;
      case kAbort:
        if (::write(2, "free(): invalid pointer\n", 24) < 0) ::_exit(9);
        recorder->set_stage(Stage::kJudge);
        ::abort();
      default:
        break;
    }
    report(request->id, what == kFail);
  }
}

[[noreturn]] void play(const std::string& mode) {
  if (mode == "silent") ::sleep(1000);
  if (mode == "exit") {
    if (::write(2, "cannot open shared object\n", 26) < 0) ::_exit(9);
    ::_exit(1);
  }
  if (mode == "garbage") {
    say("hello\n");
    ::sleep(1000);
  }
  WorkerMessage message;
  if (mode == "fatal") {
    message.kind = WorkerMessage::Kind::kFatal;
    message.what = "the package was built for cuda";
    message.where = "model.pt2";
    message.to_do = "run it where there is a GPU";
    say(print_message(message));
    ::_exit(3);
  }
  if (mode == "lonely") {
    // The lock goes with the process.
    const int lock = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
      message.kind = WorkerMessage::Kind::kFatal;
      message.what = "out of memory";
      say(print_message(message));
      ::_exit(3);
    }
  }
  message.kind = WorkerMessage::Kind::kHello;
  message.hello.pid = ::getpid();
  message.hello.torch_version = "2.11.0";
  say(print_message(message));
  if (mode == "noready") ::_exit(0);
  auto* recorder = static_cast<FlightRecorder*>(
      ::mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, WorkerArguments::kRecorderFd, 0));
  if (mode == "direct" || mode == "lonely") {
    WorkerMessage ready;
    ready.kind = WorkerMessage::Kind::kReady;
    ready.pid = ::getpid();
    say(print_message(ready));
    ::signal(SIGABRT, SIG_DFL);
    serve(recorder);
  }
  for (;;) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGABRT, SIG_DFL);
      serve(recorder);
    }
    WorkerMessage note;
    note.kind = WorkerMessage::Kind::kReady;
    note.pid = child;
    say(print_message(note));
    int status = 0;
    ::waitpid(child, &status, 0);
    note.kind = WorkerMessage::Kind::kDied;
    note.case_id = recorder->case_id;
    note.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    note.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (note.status == kNoMoreCases) ::_exit(0);
    drop_pending();
    say(print_message(note));
  }
}

struct PlayWorkerBeforeMain {
  PlayWorkerBeforeMain() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    const std::string flag = std::string("\0--package\0fake:", 16);
    const size_t at = all.find(flag);
    if (at != std::string::npos) play(std::string(all.c_str() + at + flag.size()));
  }
} play_worker_before_main;

}  // namespace

WorkerOptions fake_worker(const std::string& mode) {
  WorkerOptions options;
  options.program = "/proc/self/exe";
  options.arguments.package = "fake:" + mode;
  options.case_timeout = std::chrono::milliseconds(300);
  options.start_timeout = std::chrono::milliseconds(3000);
  if (mode == "direct" || mode == "lonely") options.spares = 2;
  return options;
}

Case sized_case(int64_t n) {
  Case c;
  CaseInput x;
  x.name = std::string("x");
  x.sizes = {n};
  c.inputs = {x};
  return c;
}

}  // namespace aotifuzz::test
