#include "worker/case_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "worker/call_recorder.h"
#include "worker/case_runner.h"
#include "worker/crash_handler.h"
#include "worker/trace_runner.h"

namespace aotifuzz {
namespace {

/// How far resident memory may grow before a fresh process takes over: a refused run of torch 2.11 leaks its inputs.
constexpr int64_t kGrowthMax = int64_t{512} << 20;
/// Cases between two looks at it: a look costs microseconds, a case hardly ever leaks more than megabytes.
constexpr int kLookEvery = 32;

/// Reads /proc/self/statm; keeps it open, so a look is one system call.
class MemoryGauge {
 public:
  MemoryGauge() : fd_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) {}
  ~MemoryGauge() { close(fd_); }
  MemoryGauge(const MemoryGauge&) = delete;
  MemoryGauge& operator=(const MemoryGauge&) = delete;

  int64_t mapped_bytes() const { return read(0); }
  int64_t resident_bytes() const { return read(1); }

 private:
  int64_t read(int field) const {
    char text[128] = {};
    if (pread(fd_, text, sizeof(text) - 1, 0) <= 0) return 0;
    long mapped = 0, resident = 0;
    if (std::sscanf(text, "%ld %ld", &mapped, &resident) != 2) return 0;
    return (field == 0 ? mapped : resident) * sysconf(_SC_PAGESIZE);
  }
  int fd_;
};

void limit_memory(const MemoryGauge& gauge, int64_t mib) {
  if (mib <= 0) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0) return;
  const rlim_t wanted = static_cast<rlim_t>(gauge.mapped_bytes() + (mib << 20));
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_AS, &limit);
}

}  // namespace

int CaseServer::serve(const Setup& setup) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  install_crash_handlers(setup.recorder, setup.allocator);
  std::optional<CallRecorder> calls;
  // On a device the runtime records the launches.
  if (setup.recorder && !setup.device) {
    calls.emplace(*setup.recorder, KernelCalls::instance().names());
    KernelCalls::instance().set_observer(&*calls);
  }
  const MemoryGauge gauge;
  // A device's driver reserves address space by the terabyte.
  if (!setup.device) limit_memory(gauge, setup.memory_mib);
  // What the guard uses lies in address space that was reserved long ago.
  if (setup.allocator && setup.memory_mib > 0)
    setup.allocator->limit_growth(static_cast<size_t>(setup.memory_mib) << 20);
  StderrCapture errors = StderrCapture::install();
  CaseRunner runner({.contract = &setup.package->info().contract,
                     .facts = &setup.package->facts(),
                     .reference = setup.package->reference(),
                     .host_reference = setup.package->host_reference(),
                     .package = setup.package->package(),
                     .oracles = setup.package->oracles(),
                     .recorder = setup.recorder,
                     .allocator = setup.allocator,
                     .errors = &errors,
                     .device = setup.device,
                     .kernels = setup.package->kernels(),
                     .symbols = &setup.package->symbols(),
                     .kernels_every = setup.kernels_every});
  std::optional<TraceRunner> tracer;
  if (setup.trace)
    tracer.emplace(TraceRunner::Parts{.contract = &setup.package->info().contract,
                                      .package = setup.package->package(),
                                      .kernels = setup.package->kernels(),
                                      .recorder = setup.recorder,
                                      .allocator = setup.allocator,
                                      .errors = &errors,
                                      .device = setup.device,
                                      .options = *setup.trace});
  WorkerMessage ready;
  ready.kind = WorkerMessage::Kind::kReady;
  ready.pid = getpid();
  if (!setup.channel->send(ready)) return kDone;
  const int64_t resident_at_start = gauge.resident_bytes();
  for (int served = 1;; ++served) {
    std::optional<RequestChannel::Request> request = setup.channel->next();
    if (!request) return setup.channel->renew_asked() ? kRenewed : kDone;
    if (served == 1 && setup.on_first_case) setup.on_first_case();
    WorkerMessage message;
    message.kind = WorkerMessage::Kind::kReport;
    message.report = tracer ? tracer->run(request->id, request->case_text)
                            : runner.run(request->id, request->case_text, request->careful);
    if (!setup.channel->send(message)) return kDone;
    if (runner.is_spent()) return kRecycled;
    if (served % kLookEvery == 0 && gauge.resident_bytes() - resident_at_start > kGrowthMax) return kRecycled;
  }
}

}  // namespace aotifuzz
