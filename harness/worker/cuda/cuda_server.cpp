#include "worker/cuda/cuda_server.h"

#include <c10/util/Exception.h>
#include <stdlib.h>
#include <unistd.h>

#include <exception>
#include <functional>

#include "worker/case_server.h"
#include "worker/cuda/cuda_driver.h"
#include "worker/cuda/cuda_runtime.h"
#include "worker/error_text.h"
#include "worker/kernel_calls.h"

namespace aotifuzz {
namespace {

/// The parent reads why before it sees that we are gone; the number is for whoever runs the worker by hand.
constexpr int kDeviceLost = 102;

/// Must be set before anything asks for them.
void set_allocator_variables(AllocatorMode mode) {
  if (mode != AllocatorMode::kNoCache) return;
  setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1", 1);
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
}

int status_to_code(int status) { return status == CaseServer::kWorld ? kExitWorld : kExitNoFaults; }

/// What else is thrown while a worker gets ready comes from torch, for want of memory on the device as a rule.
HarnessError as_harness_error(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const HarnessError*>(&error)) return *ours;
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  return HarnessError(
      "the worker cannot get ready: " + clean_error(torch ? torch->what_without_backtrace() : error.what()),
      "loading the package on the device", "check nvidia-smi: is the device's memory full?");
}

std::function<void(const DeviceFault&)> lost_device;

/// Without the cache, freeing memory of a lost device throws, and the destructors that free let nothing pass. What ends
/// the process then is the device's fault.
[[noreturn]] void on_terminate() {
  if (const CudaDriver* driver = CudaDriver::find())
    if (const CUresult code = driver->synchronize(); code != CUDA_SUCCESS && lost_device) lost_device(fault_of(code));
  abort();
}

}  // namespace

int CudaServer::run() {
  try {
    return serve();
  } catch (const std::exception& error) {
    RequestChannel(pipes_.request_fd, pipes_.message_fd).send(fatal_message(as_harness_error(error)));
    return kExitWorld;
  }
}

int CudaServer::serve() {
  StartClock clock;
  clock.part("libraries");
  set_allocator_variables(arguments_.allocator);
  prepare_process();
  RequestChannel channel(pipes_.request_fd, pipes_.message_fd);
  FlightRecorder* const recorder = map_recorder(pipes_.recorder_fd);
  if (arguments_.spares == 0) return status_to_code(live(channel, recorder, clock, nullptr));
  warm_up_host();
  SpareServer server(
      {.channel = &channel, .recorder = recorder, .spares = arguments_.spares, .live = [&](SpareServer::Child& child) {
         StartClock forked;
         try {
           return live(channel, recorder ? private_recorder() : nullptr, forked, &child);
         } catch (const std::exception& error) {
           if (!child.is_its_turn()) return SpareServer::kNotReady;
           channel.send(fatal_message(as_harness_error(error)));
           return static_cast<int>(CaseServer::kWorld);
         }
       }});
  return server.run();
}

/// Gets ready and serves. `child`: of a SpareServer; null: the program itself.
int CudaServer::live(RequestChannel& channel, FlightRecorder* recorder, StartClock& clock, SpareServer::Child* child) {
  CudaRuntime::Setup setup;
  setup.device = arguments_.device.empty() ? "cuda:0" : arguments_.device;
  setup.guard_allocator = arguments_.is_guarded();
  setup.memory_mib = arguments_.memory_mib;
  setup.recorder = recorder;
  setup.on_fault = [&, recorder, child](const DeviceFault& fault) {
    WorkerMessage died;
    died.kind = WorkerMessage::Kind::kDied;
    died.pid = getpid();
    died.status = kDeviceLost;
    if (recorder) died.case_id = recorder->case_id;
    died.device_error = fault.name;
    died.memory_fault = fault.memory_fault;
    channel.send(died);
    if (child) child->leaves(/*told=*/true);
    _exit(kDeviceLost);
  };
  lost_device = setup.on_fault;
  std::set_terminate(on_terminate);
  CudaRuntime runtime(std::move(setup));
  clock.part("device");
  GuardAllocator* host_allocator = arguments_.is_guarded() ? &GuardAllocator::install(recorder) : nullptr;
  if (host_allocator) host_allocator->set_alignment(64);
  if (arguments_.trace) KernelCalls::instance().watch_data_pointers();
  // Never destroyed: destructors of a package are not ours to run.
  auto* package = new LoadedPackage(arguments_, &runtime);
  if (host_allocator) host_allocator->set_alignment(1);
  clock.part("package");
  warm_up_host();
  runtime.warm_up();
  runtime.package_loaded();
  runtime.end_run();
  clock.part("first kernels");
  if (!child || child->says_hello()) {
    WorkerMessage hello;
    hello.kind = WorkerMessage::Kind::kHello;
    hello.hello = package->hello();
    hello.hello.start = clock.parts();
    if (!channel.send(hello)) return CaseServer::kDone;
  }
  CaseServer::Setup serving{.package = package,
                            .channel = &channel,
                            .recorder = recorder,
                            .allocator = host_allocator,
                            .device = &runtime,
                            .kernels_every = static_cast<uint64_t>(arguments_.kernels_every),
                            .trace = trace_options(arguments_)};
  if (child) {
    child->wait_for_turn();
    // Not before: until it sends a case the parent may still read what the last process left.
    if (recorder) serving.on_first_case = [&] { publish_recorder(recorder, pipes_.recorder_fd); };
  }
  const int status = CaseServer::serve(serving);
  if (child && status != CaseServer::kDone) child->leaves(/*told=*/false);
  return status;
}

}  // namespace aotifuzz
