#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/device_buffers.h"
#include "core/memory_fault.h"
#include "core/outcome.h"
#include "core/worker_report.h"

namespace aotifuzz {

/// How the process that ran a case ended without reporting it, and what the flight recorder still knew.
struct WorkerDeath {
  enum class Kind {
    kSignal,       ///< the case's process died of `signal`
    kExit,         ///< it ended by itself with `status`
    kHang,         ///< the watchdog ended it
    kDeviceFault,  ///< the device's context was lost: `device_error`
    kOutOfMemory,  ///< the kernel ended it (SIGKILL that is not ours)
    kLost,         ///< the worker program itself went away or wrote garbage: says nothing about the case
  };
  Kind kind = Kind::kSignal;
  int signal = 0;
  int status = 0;
  Stage stage = Stage::kIdle;
  std::string step;             ///< op or kernel being run; "" = not known
  bool step_is_kernel = false;  ///< of the package
  bool reference_done = false;
  bool reference_accepts = false;
  uint64_t fault_address = 0;
  std::string device_error;                  ///< kDeviceFault: "an illegal memory access was encountered"
  bool memory_fault = false;                 ///< kDeviceFault: the error is about memory
  std::optional<MemoryFault> memory;         ///< the address that it died of lies in guarded memory
  std::vector<DeviceBuffer> device_buffers;  ///< kDeviceFault: what lay where on the device
  std::string stack;                         ///< where it died, one function a line, innermost first; "" = not known
  std::string last_words;                    ///< end of what the process wrote to stderr: "free(): invalid pointer"
};

/// What running one case gave: exactly one of `report` and `death`.
struct CaseResult {
  std::optional<CaseReport> report;
  std::optional<WorkerDeath> death;
  double us = 0;             ///< wall time as the parent saw it
  bool fresh_child = false;  ///< the first case of its process: no earlier case can have damaged it
};

/// Runs a case somewhere that it cannot hurt us. Not thread-safe. Throws HarnessError only when the world is wrong;
/// what the package does is in the result.
class CaseExecutor {
 public:
  virtual ~CaseExecutor() = default;
  virtual CaseResult run(const Case& c) = 0;
  /// The next case gets a process in which no case ran before.
  virtual void renew() = 0;
  /// Multiplies the time limit of the cases that follow: a hang is believed only when a longer wait does not help.
  virtual void set_patience(double factor) {}
  /// Whether the cases that follow are run at any price (WorkerRequest::careful), which is how an executor begins: to
  /// pin a fault down. A campaign that only looks for them says false.
  virtual void set_careful(bool careful) {}
};

std::string signal_name(int signal);  ///< "SIGSEGV"; "signal 99" for one without a name

}  // namespace aotifuzz
