#include "worker/cuda/cuda_server.h"

#include <unistd.h>

#include "worker/case_server.h"
#include "worker/cuda/cuda_runtime.h"

namespace aotifuzz {
namespace {

/// The parent reads why before it sees that we are gone; the number is for whoever runs the worker by hand.
constexpr int kDeviceLost = 102;

}  // namespace

int CudaServer::run() {
  try {
    return serve();
  } catch (const HarnessError& error) {
    RequestChannel(pipes_.request_fd, pipes_.message_fd).send(fatal_message(error));
    return kExitWorld;
  }
}

int CudaServer::serve() {
  prepare_process();
  FlightRecorder* recorder = map_recorder(pipes_.recorder_fd);
  RequestChannel channel(pipes_.request_fd, pipes_.message_fd);
  CudaRuntime::Setup setup;
  setup.device = arguments_.device.empty() ? "cuda:0" : arguments_.device;
  setup.guard_allocator = arguments_.guard_allocator;
  setup.memory_mib = arguments_.memory_mib;
  setup.recorder = recorder;
  setup.on_fault = [&](const DeviceFault& fault) {
    WorkerMessage died;
    died.kind = WorkerMessage::Kind::kDied;
    died.pid = getpid();
    died.status = kDeviceLost;
    if (recorder) died.case_id = recorder->case_id;
    died.device_error = fault.name;
    died.memory_fault = fault.memory_fault;
    channel.send(died);
    _exit(kDeviceLost);
  };
  CudaRuntime runtime(std::move(setup));
  GuardAllocator* host_allocator = arguments_.guard_allocator ? &GuardAllocator::install(recorder) : nullptr;
  if (host_allocator) host_allocator->set_alignment(64);
  // Never destroyed: destructors of a package are not ours to run.
  auto* package = new LoadedPackage(arguments_, &runtime);
  if (host_allocator) host_allocator->set_alignment(1);
  warm_up_host();
  runtime.warm_up();
  runtime.package_loaded();
  runtime.end_run();
  WorkerMessage hello;
  hello.kind = WorkerMessage::Kind::kHello;
  hello.hello = package->hello();
  if (!channel.send(hello)) return kExitNoFaults;
  const int status = CaseServer::serve(
      {.package = package, .channel = &channel, .recorder = recorder, .allocator = host_allocator, .device = &runtime});
  return status == CaseServer::kWorld ? kExitWorld : kExitNoFaults;
}

}  // namespace aotifuzz
