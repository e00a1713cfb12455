#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "campaign/allocator_modes.h"
#include "campaign/triage.h"
#include "campaign/worker_process.h"
#include "package/package_info.h"
#include "store/finding_file.h"

namespace aotifuzz {

/// Workers kept loaded beside the one that runs cases on a device: loading takes a second or two and more than one
/// core, and each holds a context of some 500 MiB there. Those for which it has no room are done without.
int spares_on_device();

struct SessionRequest {
  PackageRequest package;
  std::vector<std::string> ops;
  std::chrono::milliseconds timeout{10'000};
  int64_t memory_mib = 0;
  std::string device;  ///< "" = the package's own; "cuda:1" for another of its kind
  std::string torch;   ///< --torch; "" = the package's own, else the nearest that there is a worker for
  int64_t kernels_every = WorkerArguments::kKernelsEvery;
  /// Also a package that was compiled without its weights and is given none, so that its first kernel dies of it: for
  /// whoever explains that.
  bool without_weights_too = false;
};

/// How a worker for `request` is started. Throws as choose_device() does.
WorkerArguments worker_arguments(const SessionRequest& request, const PackageInfo& info);

/// The worker program for a package.
struct WorkerChoice {
  std::string program;
  std::string note;   ///< as TorchChoice::note
  std::string torch;  ///< version that its build is for; "" = not known, of a given worker
};
/// By the torch that compiled the package and `request.torch`; AOTIFUZZ_WORKER goes before both. Throws as
/// choose_torch() and find_worker_program() do.
WorkerChoice choose_worker(const SessionRequest& request, const PackageInfo& info);

/// A package read and a worker that has loaded it. Throws HarnessError when either cannot be done.
class PackageSession {
 public:
  explicit PackageSession(SessionRequest request);

  const PackageInfo& info() const { return info_; }
  /// One line for the user when the package runs with another torch than the one that compiled it; else "".
  const std::string& torch_note() const { return worker_choice_.note; }
  const std::string& worker_program() const { return worker_choice_.program; }
  const Contract& contract() const { return info_.contract; }
  /// One that the worker can run; starts the worker.
  bool has_reference() { return hello().has_reference; }
  TriageContext triage() { return {info_.contract, has_reference(), &info_}; }
  WorkerProcess& worker() { return worker_; }
  /// One more like it, for another job. Starts with its first case.
  std::unique_ptr<WorkerProcess> another_worker() const;
  /// Workers with torch's own allocator, as in production, and on a device also without its cache. Each starts with its
  /// first case.
  std::vector<OtherAllocator> other_allocators();
  /// How the worker was started.
  WorkerArguments arguments() const { return worker_arguments(request_, info_); }
  /// Starts the worker. Throws also when it is built against another torch than its build says.
  const WorkerHello& hello();
  /// The version that compiled the package, else the worker's: what an expectation's range of versions is about.
  std::string compiler_version() { return info_.pack ? info_.pack->torch_version : hello().torch_version; }

  /// Throws HarnessError when `c` (read from `where`) is a case for another package: another number of inputs, or the
  /// program's own names in another order. Other names are no obstacle: positions decide, and builds rename inputs.
  void require_fitting(const Case& c, const std::string& where) const;

  /// torch, CPU, cores, system: what a finding depends on besides the package.
  std::map<std::string, std::string> environment();
  /// What a finding's files need, its inputs excepted.
  FindingContext finding_context() const;
  /// Lines of what is not judged: the package's own (no reference...) and the worker's.
  std::vector<std::string> not_judged();

 private:
  SessionRequest request_;
  PackageInfo info_;
  WorkerChoice worker_choice_;
  WorkerProcess worker_;
  WorkerProcess caching_worker_, nocache_worker_;
};

/// The device to run on: what is `requested` ("" = the package's own), checked against the package. "" for the CPU,
/// else "cuda:N". Throws HarnessError when the package runs on another kind of device, UsageError for what is no
/// device.
std::string choose_device(const PackageInfo& info, const std::string& requested);

/// Does the program take its user inputs as plain positional arguments? By the pytree spec that export stored.
bool takes_flat_arguments(const std::string& in_spec);

}  // namespace aotifuzz
