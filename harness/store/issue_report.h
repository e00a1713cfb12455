#pragma once

#include <string>

#include "core/finding.h"
#include "store/finding_file.h"

namespace aotifuzz {

/// Markdown that can be pasted into an issue as it stands: title, what is wrong, the smallest inputs, what was
/// measured, environment, how to replay, and the Python reproducer.
std::string print_issue_report(const Finding& finding, const FindingContext& context, const std::string& script,
                               const std::string& folder);

}  // namespace aotifuzz
