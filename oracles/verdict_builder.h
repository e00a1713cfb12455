#pragma once

#include <string>
#include <string_view>

#include "oracles/oracle.h"

namespace aotifuzz {

Verdict pass_verdict(std::string_view oracle);
Verdict skip_verdict(std::string_view oracle, std::string reason);
Verdict mistrusted_verdict(std::string_view oracle, std::string reason);
/// `signature` gets the class in front.
Verdict fail_verdict(std::string_view oracle, VerdictClass cls, bool fault, std::string reason,
                     std::string_view signature);
Judgement only(Verdict verdict);
Judgement ask(std::vector<RunRequest> more_runs);

/// The contract allows the case and the reference finished. Without a reference nothing is known to be legal.
bool is_legal(const CaseContext& context, const RunRecords& runs);
/// The same, but without a reference what the contract allows.
bool may_be_legal(const CaseContext& context, const RunRecords& runs);
bool finished(const RunRecord* record);

/// Why a pair of runs cannot be compared: "" when both finished. Names the first that is missing or did not.
std::string why_not_comparable(const RunRecords& runs, RunKind first, RunKind second);

}  // namespace aotifuzz
