#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/contract.h"
#include "core/flight_recorder.h"
#include "oracles/run_record.h"
#include "worker/device_runtime.h"
#include "worker/guard_allocator.h"
#include "worker/materialize.h"
#include "worker/reference_program.h"
#include "worker/subject.h"

namespace aotifuzz {

/// The runs of a case that are more than one call of the loaded package: calls on other inputs in between, calls from
/// several threads, many calls with an eye on memory. Judges nothing.
///
/// Further calls (Case::then) must be legal, so that whatever they damage is the package's doing: each lies inside the
///         contract and the reference finishes on it, else the run is not made (RunRecord::not_made). What they return
///         is dropped: each is a case of its own elsewhere.
/// Throws: std::bad_alloc and c10::Error when inputs cannot be made.
class CallSequence {
 public:
  struct Parts {
    const Contract* contract = nullptr;
    ReferenceProgram* reference = nullptr;  ///< on the CPU where there is one; null: the contract alone decides
    Subject* package = nullptr;
    FlightRecorder* recorder = nullptr;   ///< null: none
    GuardAllocator* allocator = nullptr;  ///< null: plain memory
    DeviceRuntime* device = nullptr;      ///< null: the CPU
    StderrCapture* errors = nullptr;
    std::vector<c10::Device> input_devices;  ///< empty: all on the CPU
  };
  /// Longest that each of these runs goes on making calls. One that has not made all that it must by then counts as not
  /// made: only a single call that does not end is a hang.
  static constexpr double kSeconds = 2;

  explicit CallSequence(Parts parts) : parts_(std::move(parts)) {}

  /// Before the memory of a run is laid out: makes the inputs of the further calls and asks the reference about them.
  /// Returns why the run cannot be made; "" = it can. Keeps them for the runs of this case.
  std::string prepare(const Case& c);
  /// The further calls in order, then the package on `own`: outcome, outputs and inputs afterwards of that.
  void run_then(const Case& c, const CaseInputs& own, RunRecord& record);
  /// All calls from `c.callers` threads at once. The outputs and inputs afterwards are those of a caller's call that
  /// differs from `first`, NaN equal to NaN, if there is one.
  void run_callers(const Case& c, const CaseInputs& own, const RunRecord& first, RunRecord& record);
  /// The package `times` times on `own`, fewer when that takes too long; bytes in use after each.
  void run_many(const Case& c, const CaseInputs& own, uint64_t times, RunRecord& record);
  /// Forgets the inputs of the last case.
  void forget() { calls_.clear(); }

 private:
  struct Call {
    Case input;
    std::unique_ptr<CaseInputs> values;
    int times = 1;
  };
  std::string why_not(const Call& call) const;
  Subject::Results call_package(const Case& c, const CaseInputs& values, StderrCapture* errors,
                                std::vector<at::Tensor>* tensors) const;

  Parts parts_;
  std::vector<Call> calls_;
};

/// Bytes in use by malloc and by the guard allocator.
int64_t memory_in_use(GuardAllocator* allocator);

}  // namespace aotifuzz
