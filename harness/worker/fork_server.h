#pragma once

#include "worker/server_setup.h"

namespace aotifuzz {

/// The worker program: loads everything once, says hello, then keeps one forked process serving cases; when that dies
/// it says so and forks the next, which costs milliseconds instead of a start. It runs no model itself: a process that
/// has started threads must not fork. Returns the exit code (core/error.h).
///
/// Ends when the parent says quit or is gone. A process that is stuck in a case when the parent goes is killed.
class ForkServer {
 public:
  ForkServer(const WorkerArguments& arguments, const WorkerPipes& pipes) : arguments_(arguments), pipes_(pipes) {}
  int run();

 private:
  int serve();
  WorkerArguments arguments_;
  WorkerPipes pipes_;
};

}  // namespace aotifuzz
