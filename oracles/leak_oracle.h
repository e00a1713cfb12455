#pragma once

#include <cstdint>
#include <span>

#include "oracles/oracle.h"

namespace aotifuzz {

/// Memory of the process after each of many runs on the same input, whose results are dropped: bytes in use by malloc
/// and by torch's CPU allocator, exact to the byte. Memory of a device is not looked at.
///
/// Plans:  where a case asks for kRunsLeast runs or more.
/// Asks:   for three times as many runs, where memory grew.
/// Skips:  fewer runs fitted into the time; a package on a device; out of memory; an illegal input that the package did
///         not refuse.
/// Fails:  leak, where memory grows steadily once caches are warm (bytes_per_run), and at half that rate
///         or more in the further runs. Measures are of these.
///         Fault: a legal input, unless the package refused it with input checks on; else gap.
class LeakOracle final : public Oracle {
 public:
  static constexpr uint64_t kRunsLeast = kLeakRunsLeast;

  std::string_view name() const override { return "leak"; }
  std::vector<RunRequest> plan(const CaseContext& context) const override;
  Judgement judge(const CaseContext& context, const RunRecords& runs) const override;

  /// By how much memory grew with each run, in the mean: 0 unless each of three stretches after the first quarter grew,
  /// and none more than twice as much as another. `in_use`: bytes after each run, kRunsLeast or more.
  static double bytes_per_run(std::span<const int64_t> in_use);
};

}  // namespace aotifuzz
