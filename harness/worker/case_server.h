#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/flight_recorder.h"
#include "worker/guard_allocator.h"
#include "worker/kernel_tracer.h"
#include "worker/loaded_package.h"
#include "worker/request_channel.h"

namespace aotifuzz {

/// The process that serves cases: forked from the server, expected to die now and then.
class CaseServer {
 public:
  struct Setup {
    LoadedPackage* package = nullptr;
    RequestChannel* channel = nullptr;
    FlightRecorder* recorder = nullptr;        ///< null: none
    GuardAllocator* allocator = nullptr;       ///< null: torch's own
    int64_t memory_mib = 0;                    ///< address space beyond what is mapped now; 0 = no limit. CPU only
    DeviceRuntime* device = nullptr;           ///< null: packages of the CPU
    std::function<void()> on_first_case = {};  ///< before it is touched
    uint64_t kernels_every = 0;           ///< see CaseRunner::Parts
    std::optional<TraceOptions> trace = {};  ///< trace cases instead of judging them
  };
  /// What the process's exit status says to the server. Any other status is a death.
  enum ExitStatus { kRecycled = 0, kDone = 100, kWorld = 101, kRenewed = 103 };

  /// Serves until the parent says quit or is gone (kDone), until it wants another process (kRenewed), or
  /// until memory that refused runs leak adds up (kRecycled).
  /// Returns the status to exit with; the caller uses _exit: no destructor of a package must run twice.
  static int serve(const Setup& setup);
};

}  // namespace aotifuzz
