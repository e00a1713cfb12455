#pragma once

#include <string>

namespace aotifuzz {

/// Writes OUT/report.html (store/html_report.h) from the files in OUT, findings in the order of finding_rank(), and
/// returns its path. Throws HarnessError when OUT holds no statistics or cannot be read.
std::string write_report_file(const std::string& out);

}  // namespace aotifuzz
