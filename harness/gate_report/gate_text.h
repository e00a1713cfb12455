#pragma once

#include <string>
#include <vector>

#include "gate_report/gate_verdict.h"
#include "gate_report/program_calls.h"
#include "store/ci_report.h"

namespace aotifuzz {

/// What a person reads of one library: faults first, then preconditions folded to a line, what was not judged by
/// reason, and counts.
std::string gate_text(const std::vector<OperatorVerdict>& verdicts);
/// One operator's faults, as gate_text() shows them.
std::string faults_text(const OperatorVerdict& verdict);
/// The same as one JSON document.
std::string gate_json(const std::string& library, const std::vector<OperatorVerdict>& verdicts, int exit_code,
                      const std::vector<ProgramCalls>& programs = {});
/// For CI systems: an item an operator, and one for each of its faults.
CiReport gate_ci_report(const std::string& library, const std::vector<OperatorVerdict>& verdicts,
                        const std::string& tool_version);

}  // namespace aotifuzz
