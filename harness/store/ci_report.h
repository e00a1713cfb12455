#pragma once

#include <string>
#include <vector>

/// Results in the forms that CI systems read: JUnit XML, SARIF 2.1.0, GitHub annotations. Nothing here judges.
/// All text is UTF-8; what is not is written as U+FFFD. No function throws but std::bad_alloc. Thread-safe: no state.
namespace aotifuzz {

enum class CiStatus { kPassed, kFailed, kSkipped };

/// How loud an annotation of a failed item is.
enum class CiLevel { kError, kWarning, kNote };

/// One thing that was checked: an operator, a corpus case, a finding.
struct CiItem {
    std::string suite;    ///< what it belongs to: a library, a package, a folder of cases
    std::string name;     ///< unique within the suite
    CiStatus status = CiStatus::kPassed;
    CiLevel level = CiLevel::kError;  ///< read only of failed items
    std::string rule;     ///< identifier of the kind of fault ("wrong-result", "meta-specialises"); of failed items
    std::string message;  ///< one line: what is wrong, or why it was skipped
    std::string detail;   ///< any number of lines
    std::string file;     ///< source file it points to, relative to the repository where known; may be empty
    int line = 0;         ///< from 1; 0: unknown
    std::string fingerprint;  ///< stable over builds: SARIF's partialFingerprints; may be empty
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

/// JUnit XML as Jenkins, GitLab and GitHub's actions read it: one testsuite per suite, one testcase per item.
std::string junit_xml(const CiReport& report);

/// SARIF 2.1.0: a result per failed item; a skipped one as a notification of the run, so that nothing is lost.
std::string sarif_json(const CiReport& report);

/// Workflow commands, one line per failed item: `::error file=...,line=...,title=...::message`.
std::string github_annotations(const CiReport& report);

}  // namespace aotifuzz
