#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "store/worker_protocol.h"
#include "worker/fork_server.h"

namespace {

using aotifuzz::ForkServer;
using aotifuzz::WorkerArguments;

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

/// The parent's descriptors; by hand, stdin and stdout instead. Stdout then moves away: what a package prints to it
/// must not end up among the messages.
ForkServer::Pipes choose_pipes() {
  ForkServer::Pipes pipes;
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

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = aotifuzz::parse_worker_arguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!arguments) {
    std::fprintf(stderr,
                 "aotifuzz-worker: %s\n  where: %s\n  to do: it is started by aotifuzz; by hand: "
                 "aotifuzz-worker --package model.pt2 [--model NAME] [--reference ep.pt2] [--ops lib.so]... "
                 "[--memory-mib N] [--allocator guard|plain], requests on stdin\n",
                 arguments.error().what.c_str(), arguments.error().where.c_str());
    return aotifuzz::kExitUsage;
  }
  const int code = ForkServer(*arguments, choose_pipes()).run();
  std::fflush(nullptr);
  _exit(code);  // packages stay loaded: their destructors are not ours to run
}
