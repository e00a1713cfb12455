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

/// What is asked of the values of an input that indexes: "idx: values from 0 to x.size(0) - 1". "" for any other input.
std::string index_condition(const InputSpec& spec);
/// The guard for it; `item` is index_condition() of one of the contract's inputs.
AuditGuard guard_of_index(const Contract& contract, const std::string& item);

/// A condition over dimension names in C++, where x is an at::Tensor: "x.size(0) % 2 == 0". "" when it has an operator
/// that C++ has not.
std::string cpp_text(const Expr& condition);

}  // namespace aotifuzz
