#pragma once

#include <string>
#include <vector>

#include "oracles/oracle.h"
#include "oracles/run_record.h"

namespace aotifuzz {

/// The reference runs that decide what is legal, asked for in stages: each costs a whole reference run, and the first
/// few answer most questions.
///   stage 0  none yet
///   stage 1  float64 centre, rounding seeds 0..3
///   stage 2  + rounding seeds 4..7, undefined seeds 0..3
///   stage 3  + rounding seeds 8..31
struct RefereeRuns {
  const RunRecord* centre = nullptr;
  std::vector<const RunRecord*> rounded;    ///< finished ones
  std::vector<const RunRecord*> undefined;  ///< finished ones
  int stage = 0;
  std::string failure;  ///< why there is no referee: the float64 run, or most samples, did not finish

  bool available() const { return centre && failure.empty(); }
};
inline constexpr int kRefereeStages = 3;

RefereeRuns collect_referee_runs(const RunRecords& runs);
/// What stage `stage` adds to the one before.
std::vector<RunRequest> referee_requests(int stage);

/// An error message without what changes from case to case: digits become '#', runs of them one.
std::string without_numbers(std::string_view text);

}  // namespace aotifuzz
