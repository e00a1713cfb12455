#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

#include "core/explanation.h"

namespace aotifuzz {

/// What `aotifuzz explain` says, for people.
void print_explanations(const ExplainReport& report, std::ostream& out);

/// The same as one JSON object: found, steps, conclusion, minimal_case, notes, fault.
nlohmann::ordered_json explanations_json(const ExplainReport& report);

}  // namespace aotifuzz
