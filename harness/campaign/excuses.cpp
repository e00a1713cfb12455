#include "campaign/excuses.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

/// Of which package or recipe a case is said to be; "" when it is not said.
std::string owner(const CorpusEntry& entry) {
  if (!entry.expectation) return "";
  return entry.expectation->package.empty() ? entry.expectation->recipe
                                            : fs::path(entry.expectation->package).stem().string();
}

/// Nothing in it but what holds its place in a repository (.gitkeep).
bool is_bare(const std::string& folder) {
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [](const auto& entry) { return entry.path().filename().string().starts_with('.'); });
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Excuses::Excuses(const std::string& known_file, const std::string& baseline_folder)
    : baseline_folder_(baseline_folder) {
  if (!known_file.empty()) issues_ = load_known_issues(known_file);
  if (baseline_folder.empty()) return;
  if (!fs::is_directory(baseline_folder))
    throw HarnessError("the baseline is no folder", baseline_folder, "give the --out of an earlier campaign");
  // A campaign without findings is a baseline too, and so is a corpus that begins.
  if (fs::exists(baseline_folder + "/state.json") && !fs::exists(baseline_folder + "/findings")) return;
  if (is_bare(baseline_folder)) return;
  for (const std::string& path : find_cases(baseline_folder))
    if (CorpusEntry entry = read_entry(path); entry.expectation) {
      owners_.insert(owner(entry));
      baseline_.push_back(std::move(*entry.expectation));
    }
}

std::string Excuses::other_packages(const std::string& own) const {
  // Some corpus entries do not say.
  if (owners_.contains(own) || owners_.contains("")) return "";
  return fmt::format("{}", fmt::join(owners_, ", "));
}

std::string Excuses::of(const Verdict& verdict, const Case& minimal) const {
  if (std::string excuse = known_issue_excuse(issues_, verdict, minimal); !excuse.empty()) return excuse;
  const bool old = std::any_of(baseline_.begin(), baseline_.end(),
                               [&](const Expectation& expectation) { return matches(expectation, verdict); });
  return old ? "in the baseline " + baseline_folder_ : "";
}

std::string Excuses::of(const CorpusEntry& entry, const ReplayResult& result) const {
  const bool as_expected =
      result.status == ReplayResult::Status::kStillFails || result.status == ReplayResult::Status::kFlaky;
  std::string first;
  for (const Verdict& verdict : result.verdicts) {
    if (verdict.status != VerdictStatus::kFail) continue;
    if (as_expected && !matches(*entry.expectation, verdict)) continue;
    const std::string excuse = of(verdict, entry.input);
    if (excuse.empty()) return "";
    if (first.empty()) first = excuse;
  }
  return first;
}

std::string_view known_case_status_name(KnownCase::Status status) {
  switch (status) {
    case KnownCase::Status::kStillFails:
      return "still fails";
    case KnownCase::Status::kNoLongerFails:
      return "no longer fails";
    case KnownCase::Status::kFailsOtherwise:
      return "fails in another way";
    case KnownCase::Status::kNotTried:
      return "not tried";
    case KnownCase::Status::kUnreadable:
      return "cannot be read";
  }
  return "";
}

KnownCase check_known_case(const KnownIssue& issue, const CorpusEntry& entry, PackageSession& session, int times) {
  session.require_fitting(entry.input, entry.path);
  const ReplayResult result = replay(session.triage(), session.worker(), entry, times);
  KnownCase known{issue.link, entry.path, KnownCase::Status::kNoLongerFails, ""};
  for (const Verdict& verdict : result.verdicts)
    if (matches(issue, verdict, entry.input)) known.status = KnownCase::Status::kStillFails;
  if (known.status == KnownCase::Status::kStillFails) return known;
  known.note = fmt::format("{} in {} runs", replay_status_name(result.status), result.tries);
  if (!result.fails.empty()) known.status = KnownCase::Status::kFailsOtherwise;
  // Nobody looked: that is no sign of a repair.
  if (result.status == ReplayResult::Status::kNotJudged) known.status = KnownCase::Status::kNotTried;
  return known;
}

std::vector<KnownCase> check_known_cases(const std::vector<KnownIssue>& issues, PackageSession& session, int times) {
  std::vector<KnownCase> out;
  const std::string own = fs::path(session.info().path).stem().string();
  for (const KnownIssue& issue : issues)
    for (const std::string& path : issue.cases) {
      try {
        for (const std::string& file : find_cases(path)) {
          const CorpusEntry entry = read_entry(file);
          if (const std::string other = owner(entry); !other.empty() && other != own)
            out.push_back({issue.link, file, KnownCase::Status::kNotTried, "it is a case of " + other});
          else
            out.push_back(check_known_case(issue, entry, session, times));
        }
      } catch (const HarnessError& error) {
        out.push_back({issue.link, path, KnownCase::Status::kUnreadable, first_line(error.what())});
      }
    }
  return out;
}

std::vector<KnownCase> untried_cases(const std::vector<KnownIssue>& issues, const std::string& why) {
  std::vector<KnownCase> out;
  for (const KnownIssue& issue : issues)
    for (const std::string& path : issue.cases) out.push_back({issue.link, path, KnownCase::Status::kNotTried, why});
  return out;
}

std::optional<KnownCase> known_but_fixed(const std::vector<KnownIssue>& issues, const CorpusEntry& entry,
                                         const ReplayResult& result) {
  if (result.status != ReplayResult::Status::kFixed || !entry.expectation) return std::nullopt;
  Verdict expected;
  expected.status = VerdictStatus::kFail;
  expected.cls = entry.expectation->cls;
  expected.fault = entry.expectation->fault.value_or(true);
  expected.signature = entry.expectation->signature;
  for (const KnownIssue& issue : issues)
    if (matches(issue, expected, entry.input))
      return KnownCase{issue.link, entry.path, KnownCase::Status::kNoLongerFails,
                       fmt::format("fixed in {} runs", result.tries)};
  return std::nullopt;
}

int strict_exit_code(const std::vector<KnownCase>& cases, int code) {
  if (code != kExitNoFaults) return code;
  for (const KnownCase& known : cases) {
    if (known.status == KnownCase::Status::kNoLongerFails || known.status == KnownCase::Status::kFailsOtherwise)
      return kExitFaults;
    if (known.status == KnownCase::Status::kUnreadable) code = kExitWorld;
  }
  return code;
}

std::string print_known_cases(const std::vector<KnownCase>& cases) {
  const auto advice = [](KnownCase::Status status) {
    switch (status) {
      case KnownCase::Status::kNoLongerFails:
        return ": if it is mended, take the issue out of the known ones";
      case KnownCase::Status::kFailsOtherwise:
        return ": see `aotifuzz replay`, and whether the issue's fields still fit";
      case KnownCase::Status::kUnreadable:
        return ": correct its path in the known issues";
      default:
        return "";
    }
  };
  std::string out;
  for (const KnownCase& known : cases)
    if (known.status != KnownCase::Status::kStillFails)
      out += fmt::format("known issue {}: {} {} ({}){}\n", known.link, known.path, known_case_status_name(known.status),
                         known.note, advice(known.status));
  return out;
}

}  // namespace aotifuzz
