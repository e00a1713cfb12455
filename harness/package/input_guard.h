#pragma once

#include <string>

#include "core/audit_report.h"
#include "core/contract.h"

namespace aotifuzz {

/// What would have stopped an input that breaks `violation`, a violation of `contract`: text to paste into the model
/// and in front of the call. What export cannot state (strides, dtypes, overlap) has only the latter, and a note.
AuditGuard guard_against(const Contract& contract, const Violation& violation);

/// The same for a condition over dimension names that the contract does not have: "x.size(0) >= 8".
AuditGuard guard_of_condition(const Contract& contract, const Expr& condition);

/// A condition over dimension names in C++, where x is an at::Tensor: "x.size(0) % 2 == 0". "" when it has an operator
/// that C++ has not.
std::string cpp_text(const Expr& condition);

}  // namespace aotifuzz
