#pragma once

#include "worker/server_setup.h"

namespace aotifuzz {

/// The worker program for CUDA packages: loads everything, says hello, and serves cases itself, since a process that
/// has initialised CUDA must not fork. A fault of the device ends it after it said so; the parent has others ready.
/// Runs until the parent says quit or is gone, or the device is lost. Returns the exit code (core/error.h).
class CudaServer {
 public:
  CudaServer(const WorkerArguments& arguments, const WorkerPipes& pipes) : arguments_(arguments), pipes_(pipes) {}
  int run();

 private:
  int serve();
  WorkerArguments arguments_;
  WorkerPipes pipes_;
};

}  // namespace aotifuzz
