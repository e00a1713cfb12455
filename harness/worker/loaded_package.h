#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/worker_report.h"
#include "oracles/catalog.h"
#include "package/package_info.h"
#include "store/worker_protocol.h"
#include "worker/crash_symbols.h"
#include "worker/device_runtime.h"
#include "worker/guarded_constants.h"
#include "worker/kernel_judge.h"
#include "worker/reference_program.h"
#include "worker/subject.h"

namespace aotifuzz {

/// Everything that serving cases needs, loaded once and run by nobody yet: package, reference, oracles. On the CPU it
/// starts no thread and runs no kernel, so that a process can fork after it.
class LoadedPackage {
 public:
  /// Loads op libraries first, then the rest. Throws HarnessError when the package or a library cannot be loaded; a
  /// reference that cannot be run is no error: it is off, and hello() says why. `runtime`: where the package runs; null
  /// = on the CPU.
  explicit LoadedPackage(const WorkerArguments& arguments, DeviceRuntime* runtime = nullptr);

  const PackageInfo& info() const { return info_; }
  const ProgramFacts& facts() const { return facts_; }
  ReferenceProgram* reference() const { return reference_.get(); }  ///< null: off
  /// The same program on the CPU when the package runs on a device; null: `reference()` runs there, or it is off.
  ReferenceProgram* host_reference() const { return host_reference_.get(); }
  Subject* package() const { return package_.get(); }  ///< null: off
  std::span<const std::unique_ptr<Oracle>> oracles() const { return oracles_; }
  KernelJudge* kernels() const { return kernels_.get(); }  ///< null: off
  CrashSymbols& symbols() { return symbols_; }
  WorkerHello hello() const;

 private:
  void load_reference(DeviceRuntime* runtime);
  void load_package(const WorkerArguments& arguments, DeviceRuntime* runtime);
  void load_kernels(DeviceRuntime* runtime);
  GuardedConstants::Writable writable_constants() const;

  PackageInfo info_;
  ProgramFacts facts_;
  std::unique_ptr<ReferenceProgram> reference_, host_reference_;
  std::unique_ptr<Subject> package_;
  std::unique_ptr<KernelJudge> kernels_;
  std::vector<std::unique_ptr<Oracle>> oracles_;
  std::vector<std::string> not_judged_;
  std::string device_;
  CrashSymbols symbols_;
};

}  // namespace aotifuzz
