#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/kernel_trace.h"
#include "core/outcome.h"
#include "core/verdict.h"

namespace aotifuzz {

/// How one run of a case ended, as the worker tells it.
struct RunSummary {
  std::string run;  ///< "reference", "reference-f64", "reference-sampled", "subject", "subject-again"
  Outcome outcome;
  double us = 0;
};

/// Everything a worker says about one case that it survived.
struct CaseReport {
  uint64_t id = 0;
  std::vector<RunSummary> runs;
  std::vector<Verdict> verdicts;  ///< one or more per oracle that applied, passes included
  bool reference_accepts = false; ///< the reference ran and finished
  std::vector<TraceCall> trace;   ///< of a worker that traces
};

/// What a worker says once, after loading package and reference.
struct WorkerHello {
  int pid = 0;
  std::string torch_version;
  std::string cpu_capability;
  std::vector<std::string> oracles;  ///< that are on
  /// What is not judged and why: oracles that are off, outputs exempt by a random op, nodes that the reference cannot
  /// run.
  std::vector<std::string> not_judged;
  std::string device = {};              ///< "cuda:0 NVIDIA H200, compute capability 9.0"; "" = runs on the CPU
  bool has_reference = false;           ///< one that can be run
  std::vector<std::string> start = {};  ///< what the start consisted of: "libraries 210 ms"; empty: not measured
};

}  // namespace aotifuzz
