#pragma once

#include "gate/aten_shape_rules.h"

namespace aotifuzz {

/// Sums, extremes and the like along dimensions: part of aten_shape_rules().
AtenRuleTable aten_reduction_rules();

}  // namespace aotifuzz
