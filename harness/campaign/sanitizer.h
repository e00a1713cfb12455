#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "campaign/sanitizer_detail.h"
#include "campaign/worker_process.h"

namespace aotifuzz {

struct SanitizeRequest {
  std::string tool = "memcheck";  ///< or initcheck, racecheck, synccheck
  std::string program;            ///< the worker's; "" = the one beside this program
  WorkerArguments arguments;      ///< device set; the allocator is chosen here
  std::vector<Case> before;       ///< to run first in the same process
  Case input;
  std::chrono::milliseconds timeout{600'000};  ///< of one case: everything is tens of times slower
};

struct SanitizeResult {
  SanitizerLog log;
  std::string text;                  ///< of the log
  std::string version;               ///< of compute-sanitizer
  std::optional<MemoryFault> fault;  ///< the stray access, where it lies near a buffer of the package
};

/// Runs a case under NVIDIA's compute-sanitizer in a process of its own, with the guard allocator: each tensor then
/// ends where its mapping does, and the tool knows bounds of nothing smaller than a mapping. Throws HarnessError when
/// the tool is not there or does not get through.
SanitizeResult sanitize(const SanitizeRequest& request);

/// Adds what was found to a finding's folder: sanitizer.log, a section of report.md; measures and a member of
/// finding.json.
void add_to_finding(const std::string& folder, const std::string& tool, const SanitizeResult& result);

}  // namespace aotifuzz
