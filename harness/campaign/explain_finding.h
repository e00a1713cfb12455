#pragma once

#include "core/explanation.h"
#include "package/error_context.h"
#include "store/finding_record.h"

namespace aotifuzz {

/// What a finding says without running anything: its class, what it rests on, the kernel, what to change.
Explanation explain_finding(const FindingRecord& record, const ExplainPaths& paths);

/// What is to be done about a failed verdict. `broken`: the condition that its inputs break, "" = none;
/// `unchecked`: no compiled check refuses such inputs.
std::string change_for(const Verdict& verdict, const std::string& broken, bool unchecked);

}  // namespace aotifuzz
