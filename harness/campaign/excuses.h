#pragma once

#include <set>
#include <string>
#include <vector>

#include "campaign/known_issues.h"
#include "campaign/package_session.h"
#include "campaign/replay.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// Findings that do not fail a run: known issues (`--known FILE`) and those of a baseline (`--baseline DIR`), a
/// campaign's folder or any other tree of findings or corpus entries. Either may be "". Throws HarnessError.
class Excuses {
 public:
  Excuses(const std::string& known_file, const std::string& baseline_folder);

  /// Why a finding does not count; "" when it does.
  std::string of(const Verdict& verdict, const Case& minimal) const;
  /// The same of a replayed case that fails: everything that counts about it must have an excuse.
  std::string of(const CorpusEntry& entry, const ReplayResult& result) const;
  const std::vector<KnownIssue>& issues() const { return issues_; }
  /// When the baseline's findings are all of packages that are not called `own` ("model"): what those are called. A
  /// sign of another model's baseline, whose signatures may fit by chance. "" else.
  std::string other_packages(const std::string& own) const;
  bool none() const { return issues_.empty() && baseline_.empty(); }

 private:
  std::vector<KnownIssue> issues_;
  std::string baseline_folder_;
  std::vector<Expectation> baseline_;
  std::set<std::string> owners_;  ///< names of the packages that the baseline is of
};

/// What became of a case that a known issue names, or of a case that failed as a known issue does.
struct KnownCase {
  enum class Status {
    kStillFails,
    kNoLongerFails,
    kFailsOtherwise,  ///< but not as the issue says
    kNotTried,        ///< a case of another package, or nobody could judge it
    kUnreadable,      ///< no such case, or none that can be read
  };
  std::string link, path;
  Status status = Status::kNotTried;
  std::string note;  ///< why it was not tried, or what the runs came to instead
};
std::string_view known_case_status_name(KnownCase::Status status);  ///< "no longer fails"

/// Runs one case of a known issue `times` times, each in a fresh process. Throws HarnessError when it is no case for
/// the package.
KnownCase check_known_case(const KnownIssue& issue, const CorpusEntry& entry, PackageSession& session, int times);

/// Every case that the known issues name, on the package of a campaign. Those of other packages are not tried.
std::vector<KnownCase> check_known_cases(const std::vector<KnownIssue>& issues, PackageSession& session, int times);

/// The same, none of them tried, for the reason in `why`.
std::vector<KnownCase> untried_cases(const std::vector<KnownIssue>& issues, const std::string& why);

/// An entry that was expected to fail as a known issue does and is fixed; none otherwise.
std::optional<KnownCase> known_but_fixed(const std::vector<KnownIssue>& issues, const CorpusEntry& entry,
                                         const ReplayResult& result);

/// The exit code under --strict-known: 1 when a case no longer fails as its issue says, 3 when one cannot be read;
/// `code` where that says more, or all is well.
int strict_exit_code(const std::vector<KnownCase>& cases, int code);

/// Lines for people: what no longer fails, and how many were not tried and why. "" when all still fail.
std::string print_known_cases(const std::vector<KnownCase>& cases);

}  // namespace aotifuzz
