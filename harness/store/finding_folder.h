#pragma once

#include <string>

#include "core/finding.h"
#include "store/finding_file.h"

namespace aotifuzz {

/// Writes what a finding is to `folder`: case.txt (minimal, with the verdict and the replay command on top),
/// original.txt, finding.json, report.md, repro.py. finding.json comes last: a folder that has it is complete. Throws
/// HarnessError.
void write_finding_folder(const std::string& folder, const Finding& finding, const FindingContext& context);

/// The minimal case as text with comment lines that say what it shows and how to replay it.
std::string print_finding_case(const Finding& finding, const std::string& folder);

/// "aotifuzz replay FOLDER", quoted for a shell where needed.
std::string replay_command(const std::string& folder);
/// A word as a shell takes it.
std::string shell_word(const std::string& text);

}  // namespace aotifuzz
