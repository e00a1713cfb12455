#pragma once

#include <functional>
#include <optional>

#include "campaign/confirmation.h"
#include "campaign/reducer.h"

namespace aotifuzz {

/// A reduction whose result was seen to fail in fresh processes.
struct ConfirmedReduction {
  Reduction reduction;
  Confirmation confirmation;  ///< of reduction.minimal
  int runs = 0;               ///< of candidates, all attempts together
};

/// Reduces in the executor's process, which is fast, and confirms the result in fresh ones. Where it does not hold
/// there, the process was damaged on the way, and the reduction is done again with a fresh process for each candidate.
/// None when that does not hold either: the case is best left as it is.
std::optional<ConfirmedReduction> reduce_confirmed(const TriageContext& context, CaseExecutor& executor, const Case& c,
                                                   const Verdict& verdict, const ReducerOptions& options, int replays,
                                                   const std::function<bool()>& stop = {});

}  // namespace aotifuzz
