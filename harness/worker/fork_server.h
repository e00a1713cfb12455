#pragma once

#include "store/worker_protocol.h"

namespace aotifuzz {

/// The worker program: loads everything once, says hello, then keeps one forked process serving cases; when that dies
/// it says so and forks the next, which costs milliseconds instead of a start. It runs no model itself: a process that
/// has started threads must not fork. Returns the exit code (core/error.h).
///
/// Ends when the parent says quit or is gone. A process that is stuck in a case when the parent goes is killed.
class ForkServer {
 public:
  struct Pipes {
    int request_fd = 0;
    int message_fd = 1;
    int recorder_fd = -1;  ///< -1: no flight recorder
  };
  ForkServer(const WorkerArguments& arguments, const Pipes& pipes) : arguments_(arguments), pipes_(pipes) {}
  int run();

 private:
  int serve();
  WorkerArguments arguments_;
  Pipes pipes_;
};

}  // namespace aotifuzz
