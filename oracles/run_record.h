#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/outcome.h"

namespace aotifuzz {

/// Ways of running a case inside the worker.
enum class RunKind {
  kReference,        ///< ExportedProgram, eager, as written
  kReferenceF64,     ///< the same in float64 arithmetic: the referee's centre
  kReferenceSampled, ///< float64 with rounding and undefined results drawn from what is legal (oracles/legal_sampler.h)
  kSubject,          ///< the package
  kSubjectAgain,     ///< the package once more on fresh copies of the same inputs
};

struct RunRequest {
  RunKind kind = RunKind::kReference;
  uint64_t seed = 0;  ///< kReferenceSampled, kSubjectAgain (run number)
  friend bool operator==(const RunRequest&, const RunRequest&) = default;
};

/// One finished run. Tensors stay in the worker.
struct RunRecord {
  RunRequest request;
  Outcome outcome;                       ///< outputs are valid only when it finished
  std::vector<at::Tensor> outputs;       ///< flat user outputs, in order; undefined tensor for a None output
  /// Where the run left them, when `outputs` are copies on the host; empty: they are where they were left.
  std::vector<c10::Device> output_devices;
  std::vector<at::Tensor> inputs_after;  ///< the input tensors that the run was given, after it (undefined for scalars)
  /// Values the reference's watched nodes saw (ProgramFacts::watched), by node name: operands of arg-reductions.
  std::vector<std::pair<std::string, at::Tensor>> watched;
  double us = 0;
};

}  // namespace aotifuzz
