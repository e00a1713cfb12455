#pragma once

#include <string>
#include <vector>

/// Results in the forms that CI systems read: JUnit XML, SARIF 2.1.0, GitHub annotations. Nothing here judges.
/// Text may be hostile: what is not UTF-8 and what the form cannot hold (control characters in XML) is written as
/// U+FFFD, lines longer than kCiLineMax and details longer than kCiDetailMax bytes are cut and say so. No function
/// throws but std::bad_alloc. Thread-safe: no state.
namespace aotifuzz {

/// GitHub takes no longer message, and libxml2 no longer text than 10 MB.
inline constexpr size_t kCiLineMax = 4 << 10, kCiDetailMax = 32 << 10;

enum class CiStatus { kPassed, kFailed, kSkipped };

/// How loud a failed item is. Only errors make a CI run red; the others are for people.
enum class CiLevel { kError, kWarning, kNote };

/// One thing that was checked: an operator, a corpus case, a finding.
struct CiItem {
  std::string suite;  ///< what it belongs to: a library, a package, a folder of cases
  std::string name;   ///< unique within the suite
  CiStatus status = CiStatus::kPassed;
  CiLevel level = CiLevel::kError;  ///< read only of failed items
  std::string rule;                 ///< identifier of the kind of fault ("wrong-result"); of failed items
  std::string message;              ///< one line: what is wrong, or why it was skipped
  std::string detail;               ///< any number of lines
  std::string file;                 ///< file that it points to, relative to the repository where known; may be empty
  int line = 0;                     ///< from 1; 0: unknown
  std::string fingerprint;          ///< stable over builds: SARIF's partialFingerprints; may be empty
  std::string excuse;               ///< why a failed item does not count ("known issue: LINK"); empty: it counts
  double seconds = 0;
};

/// What a rule means, for SARIF viewers.
struct CiRule {
  std::string id;
  std::string summary;  ///< one line
  std::string help;     ///< what to do about it
};

struct CiReport {
  std::string tool_version;
  std::vector<CiRule> rules;
  std::vector<CiItem> items;
};

/// JUnit XML as Jenkins, GitLab and GitHub's actions read it: one testsuite per suite, one testcase per item. JUnit
/// knows neither levels nor excuses: what does not count is skipped, what is no error passes, and both say why.
std::string junit_xml(const CiReport& report);

/// SARIF 2.1.0: a result per failed item, suppressed where it has an excuse; a skipped one as a notification of the
/// run, so that nothing is lost. GitHub shows only results with a file.
std::string sarif_json(const CiReport& report);

/// Workflow commands, one line per failed item without an excuse: `::error file=...,line=...,title=...::message`.
/// GitHub shows the first ten of each level in a step.
std::string github_annotations(const CiReport& report);

}  // namespace aotifuzz
