#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gate_report/gate_verdict.h"
#include "gate_report/program_calls.h"

namespace aotifuzz {

/// The lines of all calls that can be said, each once: what the worker reads.
std::string calls_spec(const std::vector<ProgramCalls>& programs);

/// What became of the calls: how many were used, and of the others each with the reason. "" without programs.
std::string calls_text(const std::vector<ProgramCalls>& programs, const std::vector<OperatorVerdict>& verdicts);
/// The same, call by call.
nlohmann::ordered_json calls_json(const std::vector<ProgramCalls>& programs,
                                  const std::vector<OperatorVerdict>& verdicts);

}  // namespace aotifuzz
