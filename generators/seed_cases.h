#pragma once

#include <vector>

#include "core/case.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// What a campaign runs before it draws anything: every boundary of the sizes, every style of values for every input,
/// every way out of the contract, once each, cheapest first. Most faults show among these few hundred. Deterministic.
std::vector<Case> seed_cases(const CaseModel& model);

}  // namespace aotifuzz
