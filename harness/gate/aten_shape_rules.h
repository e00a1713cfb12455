#pragma once

#include <string>
#include <unordered_map>

#include "gate/aten_call.h"

namespace aotifuzz {

/// Replaces the arguments of a call by results whose sizes are expressions. False: not this call, the stack is as it
/// was.
using AtenRule = bool (*)(AtenCall&);
using AtenRuleTable = std::unordered_map<std::string, AtenRule>;  ///< by name, "aten::sum.dim_IntList"

/// Pointwise operators have one rule for all (aten_rules.cpp).
const AtenRuleTable& aten_shape_rules();

}  // namespace aotifuzz
