#pragma once

#include "worker/server_setup.h"
#include "worker/spare_server.h"
#include "worker/start_clock.h"

namespace aotifuzz {

/// The worker program for CUDA packages. A process that has initialised CUDA must not fork: so the program loads its
/// libraries, which is half of a start, and forks children that do the rest, one to serve and `spares` to wait
/// (SpareServer). Without spares it does all itself. A fault of the device ends the process that serves after it said
/// so. Runs until the parent says quit or is gone, or the device is lost. Returns the exit code (core/error.h).
class CudaServer {
 public:
  CudaServer(const WorkerArguments& arguments, const WorkerPipes& pipes) : arguments_(arguments), pipes_(pipes) {}
  int run();

 private:
  int serve();
  int live(RequestChannel& channel, FlightRecorder* recorder, StartClock& clock, SpareServer::Child* child);
  WorkerArguments arguments_;
  WorkerPipes pipes_;
};

}  // namespace aotifuzz
