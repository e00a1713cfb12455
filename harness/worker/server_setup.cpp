#include "worker/server_setup.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Logging.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <string>

namespace aotifuzz {
namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

}  // namespace

WorkerPipes choose_pipes() {
  WorkerPipes pipes;
  if (is_open(WorkerArguments::kRequestFd) && is_open(WorkerArguments::kMessageFd)) {
    pipes.request_fd = WorkerArguments::kRequestFd;
    pipes.message_fd = WorkerArguments::kMessageFd;
    if (is_open(WorkerArguments::kRecorderFd)) pipes.recorder_fd = WorkerArguments::kRecorderFd;
    return pipes;
  }
  pipes.message_fd = fcntl(STDOUT_FILENO, F_DUPFD, WorkerArguments::kRecorderFd + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return pipes;
}

FlightRecorder* map_recorder(int fd) {
  if (fd < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  auto* recorder = memory == MAP_FAILED ? nullptr : static_cast<FlightRecorder*>(memory);
  if (!recorder || recorder->magic != FlightRecorder::kMagic || recorder->version != FlightRecorder::kVersion)
    throw HarnessError("the flight recorder is none", "descriptor " + std::to_string(fd),
                       "use aotifuzz and its workers of the same build");
  return recorder;
}

FlightRecorder* private_recorder() {
  void* memory = mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw HarnessError("no memory for a flight recorder", "mmap", "free memory");
  return new (memory) FlightRecorder;
}

void publish_recorder(FlightRecorder* recorder, int fd) {
  void* shared = mmap(nullptr, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared == MAP_FAILED) return;
  std::memcpy(shared, static_cast<const void*>(recorder), sizeof(FlightRecorder));
  mmap(recorder, sizeof(FlightRecorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  munmap(shared, sizeof(FlightRecorder));
}

void prepare_process() {
  // Death is normal here: a core file of gigabytes for each would not be. One byte, not zero: a pipe to a core handler
  // is skipped only then.
  const rlimit limit{1, 1};
  setrlimit(RLIMIT_CORE, &limit);
  signal(SIGPIPE, SIG_IGN);
  // A refusal costs milliseconds when each error collects and prints a backtrace.
  c10::SetStackTraceFetcher([] { return std::string(); });
  // Large copies while loading would otherwise start OpenMP's threads, and a process with threads must not fork.
  at::set_num_threads(1);
}

void warm_up_host() {
  const at::Tensor ones = at::ones({16, 16});
  at::mm(ones, ones);
  at::addmm(ones, ones, ones);
  at::bmm(ones.unsqueeze(0), ones.unsqueeze(0));
  at::softmax(ones, -1);
  at::mkldnn_convolution(ones.view({1, 1, 16, 16}), at::ones({1, 1, 3, 3}), {}, {1, 1}, {1, 1}, {1, 1}, 1);
}

WorkerMessage fatal_message(const HarnessError& error) { return fatal_message(std::string(error.what())); }

WorkerMessage fatal_message(const std::string& text) {
  // Three parts, one a line; see HarnessError.
  const size_t where = text.find("\n  where: "), fix = text.find("\n  to do: ");
  WorkerMessage fatal;
  fatal.kind = WorkerMessage::Kind::kFatal;
  fatal.what = text.substr(0, where);
  if (where != std::string::npos && fix != std::string::npos) {
    fatal.where = text.substr(where + 10, fix - where - 10);
    fatal.to_do = text.substr(fix + 10);
  }
  return fatal;
}

int refuse_arguments(const char* program, const ParseError& error) {
  std::fprintf(
      stderr,
      "%s: %s\n  where: %s\n  to do: it is started by aotifuzz; by hand: %s --package model.pt2 "
      "[--model NAME] [--reference ep.pt2] [--ops lib.so]... [--memory-mib N] [--allocator guard|caching|nocache] "
      "[--device cuda:N] [--spares N], requests on stdin\n",
      program, error.what.c_str(), error.where.c_str(), program);
  return kExitUsage;
}

}  // namespace aotifuzz
