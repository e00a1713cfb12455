#pragma once

#include <string>

#include "campaign/case_executor.h"
#include "campaign/triage.h"

namespace aotifuzz {

/// A worker whose tensors lie in other memory than the guard's, and what a finding calls that.
struct OtherAllocator {
  std::string name;  ///< "without the guard"
  CaseExecutor* executor = nullptr;
};

/// How a memory fault shows without the guard: runs `c` once in `plain`, whose worker uses torch's own allocator, as in
/// production. "not noticed", "crash SIGSEGV in subject", "wrong-result ..."; "not judged: out of memory" when the run
/// says nothing.
std::string shows_without_guard(const TriageContext& context, CaseExecutor& plain, const Case& c);

}  // namespace aotifuzz
