#pragma once

#include <string>
#include <vector>

#include "campaign/package_session.h"
#include "core/case.h"
#include "core/verdict.h"

namespace aotifuzz {

/// How one way of running a case ended, for people.
struct RunMode {
  std::string name;  ///< "reference", "guard, end"
  std::string text;  ///< "finished in 0.2 ms", "refused: ...", "crash SIGSEGV in subject"
};

/// One case in every way that there is.
struct ModesResult {
  std::vector<RunMode> modes;
  std::vector<Verdict> verdicts;  ///< of all runs: each failure once, what passed and was skipped from the first run
};

/// Runs `c`, whose own choice of checks and of the number of runs is not looked at:
///   reference            eager, node by node
///   guard, end / start   tensors end, then start, against memory that nobody may touch; input checks off
///   kernel by kernel     every kernel beside eager
///   input checks on      AOTI_RUNTIME_CHECK_INPUTS=1
///   without the guard    torch's own allocator, as in production; on a device also without its cache
/// Each of the last two in a process of its own. Throws HarnessError when the world is wrong.
ModesResult run_in_every_mode(PackageSession& session, const Case& c);

std::string print_modes(const std::vector<RunMode>& modes);

}  // namespace aotifuzz
