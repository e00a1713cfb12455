#pragma once

#include <string_view>

#include "core/contract.h"
#include "core/flight_recorder.h"
#include "core/worker_report.h"
#include "worker/guard_allocator.h"
#include "worker/kernel_judge.h"
#include "worker/kernel_tracer.h"
#include "worker/device_runtime.h"
#include "worker/subject.h"

namespace aotifuzz {

/// Runs a package once on a case and tells what its kernels were given and left behind. Judges outputs of the package
/// by nothing; kernels by the map where there is one.
class TraceRunner {
 public:
  struct Parts {
    const Contract* contract = nullptr;
    Subject* package = nullptr;
    KernelJudge* kernels = nullptr;  ///< null: no map, so tensors have no names and no eager values
    FlightRecorder* recorder = nullptr;
    GuardAllocator* allocator = nullptr;
    StderrCapture* errors = nullptr;
    DeviceRuntime* device = nullptr;  ///< null: packages of the CPU
    TraceOptions options;
  };
  explicit TraceRunner(Parts parts);

  /// Never throws for what the case or the package does; HarnessError when a tensor cannot be saved.
  CaseReport run(uint64_t id, std::string_view case_text);

 private:
  void annotate(std::span<const CapturedCall> captured, const KernelRecord& record,
                std::vector<TraceCall>* trace) const;

  Parts parts_;
  std::vector<c10::Device> input_devices_;
  KernelTracer tracer_;
};

}  // namespace aotifuzz
