#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_fault.h"
#include "core/outcome.h"

namespace aotifuzz {

/// Ways of running a case inside the worker.
enum class RunKind {
  kReference,         ///< ExportedProgram, eager, as written
  kReferenceF64,      ///< the same in float64 arithmetic: the referee's centre
  kReferenceSampled,  ///< float64 with rounding and undefined results drawn from what is legal
                      ///< (oracles/legal_sampler.h)
  kSubject,           ///< the package
  kSubjectAgain,      ///< the package once more on fresh copies of the same inputs
  kSubjectKernels,    ///< the package once more, with what each kernel call is given and leaves behind judged
  kSubjectThen,       ///< the further calls of the case, then the package once more on the case's own inputs
  kSubjectCallers,    ///< all calls of the case from several threads at the same time
  kSubjectMany,       ///< the package many times, with the memory in use after each run
};

std::string_view run_name(RunKind kind);  ///< in reports: "reference", "subject-again"...
inline bool is_subject(RunKind kind) { return kind >= RunKind::kSubject; }

struct RunRequest {
  RunKind kind = RunKind::kReference;
  uint64_t seed = 0;  ///< kReferenceSampled, kSubjectAgain (run number), kSubjectMany (runs wanted)
  friend bool operator==(const RunRequest&, const RunRequest&) = default;
};

/// Memory during a run of the package.
struct RunMemory {
  int pattern = 0;        ///< which of the patterns fresh memory is filled with; 0 in the first run
  bool at_start = false;  ///< buffers start, not end, against inaccessible memory, and freed ones are not used again
  bool protect_freed = false;  ///< and become inaccessible, which costs microseconds each
  friend bool operator==(const RunMemory&, const RunMemory&) = default;
};

/// The patterns that there are.
constexpr int kPoisonPatterns = 6;

/// Of the runs that a case asks for, so many are kept and compared with the first; with more, memory is watched
/// instead.
constexpr int kComparedRuns = 8;

/// Seeds of kSubjectAgain below this number the repetitions that a case asks for; the others name the memory of a run.
constexpr uint64_t kChosenMemory = 1 << 16;

/// A further run of the package with `memory`; `repetition` keeps several of them apart. At the start, freed buffers
/// are inaccessible: whoever asks has a suspicion.
inline RunRequest subject_with(const RunMemory& memory, uint64_t repetition) {
  return {
      RunKind::kSubjectAgain,
      kChosenMemory + ((repetition * kPoisonPatterns + static_cast<uint64_t>(memory.pattern)) << 1 | memory.at_start)};
}

/// What memory is like in a run of the package. Repetitions differ from the first run in both respects, and by turns in
/// one.
inline RunMemory memory_of(const RunRequest& request) {
  if (request.kind != RunKind::kSubjectAgain) return {};
  if (request.seed >= kChosenMemory) {
    const uint64_t code = request.seed - kChosenMemory;
    const bool at_start = (code & 1) != 0;
    return {static_cast<int>((code >> 1) % kPoisonPatterns), at_start, at_start};
  }
  const bool at_start = request.seed % 2 != 0;
  return {static_cast<int>(1 + request.seed % (kPoisonPatterns - 1)), at_start, at_start && request.seed > 1};
}

struct KernelRecord;

/// One finished run. Tensors stay in the worker.
struct RunRecord {
  RunRequest request;
  Outcome outcome;                  ///< outputs are valid only when it finished
  std::vector<at::Tensor> outputs;  ///< flat user outputs, in order; undefined tensor for a None output
  /// Where the run left them, when `outputs` are copies on the host; empty: they are where they were left.
  std::vector<c10::Device> output_devices;
  std::vector<at::Tensor> inputs_after;  ///< the input tensors that the run was given, after it (undefined for scalars)
  /// Values the reference's watched nodes saw (ProgramFacts::watched), by node name: operands of arg-reductions.
  std::vector<std::pair<std::string, at::Tensor>> watched;
  std::vector<MemoryFault> damage;              ///< of a run of the package: bytes around its buffers that it changed
  std::shared_ptr<const KernelRecord> kernels;  ///< of kSubjectKernels
  std::string not_made;                         ///< why the run could not be made; "" = it was
  std::vector<int64_t> memory_in_use;           ///< of kSubjectMany: bytes after each run that was made
  std::string thrown_in;  ///< of a run of the package that was rejected: the kernel that threw; "" = none, or not known
  /// Of a run of the package that was rejected, in a careful case: return addresses from where the first exception was
  /// thrown; empty: not known.
  std::vector<uint64_t> thrown_at;
  double us = 0;
};

}  // namespace aotifuzz
