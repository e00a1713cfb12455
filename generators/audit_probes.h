#pragma once

#include <vector>

#include "core/audit_probe.h"
#include "generators/case_model.h"

namespace aotifuzz {

/// What `aotifuzz audit` runs apart from sizes along one dimension: each way out of the contract several times, by one
/// violation each, and what the contract leaves free of a tensor's place. Ordered by round. Deterministic.
std::vector<AuditProbe> audit_probes(const CaseModel& model);

/// Legal cases with plain values, from which an audit varies sizes: one whose sizes differ, one somewhat larger; fewer
/// where the contract has fewer, none where none was found.
std::vector<Case> audit_bases(const CaseModel& model);

}  // namespace aotifuzz
