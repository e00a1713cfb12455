#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oracles/oracle.h"
#include "oracles/referee_runs.h"

namespace aotifuzz {

/// Where two runs of the package on the same input differ.
struct RunDifference {
  std::string where;  ///< "output 0", "input x afterwards", "the outcome"
  std::string op;     ///< that gives the output; "" = not known
  std::optional<size_t> output;
  std::string index, first, later;
};

/// Does the output depend on a random op?
bool is_random_output(const CaseContext& context, size_t output);

/// The first difference, bit for bit with NaN equal to NaN, that a random op does not explain. `referee` not null and
/// available: nor an undefined result.
std::optional<RunDifference> run_difference(const CaseContext& context, const RunRecord& first, const RunRecord& later,
                                            const RefereeRuns* referee);

/// `verdict` with the difference as measures.
Verdict described(Verdict verdict, const RunDifference& found);

}  // namespace aotifuzz
