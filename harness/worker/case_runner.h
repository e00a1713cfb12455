#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/contract.h"
#include "core/flight_recorder.h"
#include "core/worker_report.h"
#include "oracles/oracle.h"
#include "worker/call_sequence.h"
#include "worker/constants_update.h"
#include "worker/crash_symbols.h"
#include "worker/device_runtime.h"
#include "worker/guard_allocator.h"
#include "worker/kernel_judge.h"
#include "worker/materialize.h"
#include "worker/reference_program.h"
#include "worker/subject.h"

namespace aotifuzz {

/// Runs one case: materialise, the runs that the oracles planned, verdicts. The reference goes first, so that the
/// parent knows whether the input was legal when the package kills the process. Every run gets fresh copies of the
/// inputs. Judges nothing itself. Writes the flight recorder before each step.
class CaseRunner {
 public:
  struct Parts {
    const Contract* contract = nullptr;
    const ProgramFacts* facts = nullptr;
    ReferenceProgram* reference = nullptr;  ///< null: off
    /// The referee, and what says before a device does that an index is out of range. Null: `reference` is that.
    ReferenceProgram* host_reference = nullptr;
    Subject* package = nullptr;  ///< null: off
    std::span<const std::unique_ptr<Oracle>> oracles;
    FlightRecorder* recorder = nullptr;   ///< null: none
    GuardAllocator* allocator = nullptr;  ///< null: plain memory
    StderrCapture* errors = nullptr;
    DeviceRuntime* device = nullptr;  ///< null: everything runs on the CPU
    KernelJudge* kernels = nullptr;   ///< null: no kernel map
    CrashSymbols* symbols = nullptr;  ///< null: code has no names
    uint64_t kernels_every = 0;       ///< one case in so many is judged kernel by kernel; 0: only where asked
  };
  explicit CaseRunner(const Parts& parts);

  /// Never throws for what the case or the package does. A case text that does not parse gives one run, "parse",
  /// rejected. `careful`: see DeviceRuntime::begin_case; on a device one more run of the package looks for what needs
  /// other memory; kernels are judged; a refusal says where it was thrown.
  CaseReport run(uint64_t id, std::string_view case_text, bool careful = false);

  /// The package is not what it was when it was loaded: another process must take the next case.
  bool is_spent() const { return spent_; }

 private:
  /// Fresh memory of the n-th run of a package holds the n-th pattern: never-written memory that reaches a result
  /// differs from run to run. As float32 all are finite, as indices all are out of range.
  static constexpr uint8_t kPoison[kPoisonPatterns] = {0xA5, 0x5A, 0xC3, 0x3C, 0x96, 0x69};

  /// The case being run.
  struct Current {
    Case parsed;
    bool runs_despite_index_error = false;
    bool pass_package_over = false;
    bool careful = false;
    bool judge_kernels = false;
    bool trace_kernels = false;  ///< some verdict asks where its wrong value comes from
    std::vector<Violation> broken;
    std::vector<c10::Device> devices;  ///< per input; empty: all on the CPU
    std::unique_ptr<CaseInputs> inputs;
    RunRecords records;
  };
  void judge(Current& current, CaseReport& report);
  void run_missing(Current& current, std::vector<RunRequest> requests, CaseReport& report);
  void update_constants(const Current& current, CaseReport& report, std::optional<ConstantsUpdate>* constants);
  std::vector<c10::IValue> values(const Current& current, std::span<const c10::Device> devices,
                                  std::vector<at::Tensor>* tensors) const;
  RunRecord run_once(Current& current, const RunRequest& request);
  void run_reference(Current& current, const RunRequest& request, RunRecord& record);
  bool host_refuses(Current& current, RunRecord& record);
  void run_package(Current& current, const RunRequest& request, RunRecord& record);
  bool prepare_calls(const Current& current, RunRecord& record);
  void run_calls(Current& current, const RunRequest& request, RunRecord& record);
  void judge_kernels(Current& current, RunRecord& record);
  void name_throws(const Current& current, std::vector<Verdict>& verdicts) const;
  void bring_home(RunRecord& record) const;
  void probe_memory(Current& current);
  void set_stage(Stage stage) {
    if (parts_.recorder) parts_.recorder->set_stage(stage);
  }

  Parts parts_;
  std::vector<c10::Device> input_devices_;  ///< empty: all on the CPU
  CallSequence sequence_;
  int threads_ = 0;
  bool spent_ = false;
};

}  // namespace aotifuzz
