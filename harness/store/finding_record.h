#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/verdict.h"

namespace aotifuzz {

/// A finding as its folder tells it, for reports: of this run or of an earlier one.
struct FindingRecord {
  std::string folder;  ///< path, as read_findings() was given OUT
  std::string slug;    ///< its last part
  Verdict verdict;     ///< a failed one
  int reproduced = 0, tries = 0, reduction_runs = 0;
  bool one_minimal = false;
  std::vector<std::string> certificate;
  std::string package, package_hash;
  std::map<std::string, std::string> environment;
  std::string case_text;  ///< the minimal one
};

/// finding.json alone: `folder`, `slug` and `case_text` stay empty. Hostile input is an error, never a crash.
Result<FindingRecord> parse_finding_record(std::string_view text);

/// Every whole finding below OUT/findings, by slug; none when there is no such folder. Throws HarnessError that names
/// the file which cannot be read.
std::vector<FindingRecord> read_findings(const std::string& out);

}  // namespace aotifuzz
