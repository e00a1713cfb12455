#include "campaign/ci_items.h"

#include <fmt/format.h>

#include "campaign/triage.h"
#include "store/case_text.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

constexpr const char* kNotJudged = "not-judged";
constexpr const char* kNotRun = "not-run";
constexpr const char* kUnexpected = "unexpected";

std::string lines_of(const Verdict& verdict) {
  std::string out;
  for (const auto& [name, value] : verdict.measures) out += fmt::format("{}: {}\n", name, value);
  return out;
}

/// The verdict that a replay is about: what was expected, else the first that fails.
const Verdict* verdict_of(const CorpusEntry& entry, const ReplayResult& result) {
  const Verdict* first = nullptr;
  for (const Verdict& verdict : result.verdicts) {
    if (verdict.status != VerdictStatus::kFail) continue;
    if (entry.expectation && matches(*entry.expectation, verdict)) return &verdict;
    if (!first) first = &verdict;
  }
  return first;
}

}  // namespace

std::vector<CiRule> ci_rules() {
  std::vector<CiRule> rules;
  for (const VerdictClass cls : verdict_classes())
    rules.push_back({std::string(verdict_class_name(cls)), std::string(verdict_class_meaning(cls)),
                     "Replay the case (aotifuzz replay FOLDER), read report.md beside it, and fix the model, the "
                     "custom op or the compiler; known issues go into the file of --known."});
  rules.push_back({kNotJudged, "Fewer than half of the cases could be judged.",
                   "The summary lists the reasons; a reference or another set of inputs may be missing."});
  rules.push_back({kNotRun, "A case could not be run.", "The message says what to change."});
  rules.push_back({kUnexpected, "A case of a corpus of known failures no longer fails as expected.",
                   "When it is fixed, move it to the cases that must pass."});
  return rules;
}

CiItem finding_item(const FindingRecord& finding, const std::string& suite, bool fail_on_gaps) {
  const Verdict& verdict = finding.verdict;
  CiItem item;
  item.suite = suite;
  item.name = finding.slug;
  item.status = CiStatus::kFailed;
  item.level = verdict.fault || fail_on_gaps ? CiLevel::kError : CiLevel::kWarning;
  item.rule = verdict.cls ? verdict_class_name(*verdict.cls) : "";
  item.message = fmt::format("{}{}", verdict.signature, verdict.reason.empty() ? "" : ": " + verdict.reason);
  item.detail = fmt::format("{}, came {} of {} times in fresh processes\n", verdict.fault ? "fault" : "gap",
                            finding.reproduced, finding.tries);
  for (const std::string& line : finding.certificate) item.detail += line + "\n";
  item.detail += lines_of(verdict) + replay_command(finding.folder) + "\n" + finding.case_text;
  item.file = finding.folder + "/case.txt";
  item.fingerprint = finding_key(verdict);
  return item;
}

CiItem campaign_item(const CampaignResult& result, const std::string& suite) {
  const Statistics& statistics = result.statistics;
  CiItem item;
  item.suite = suite;
  item.name = "campaign";
  item.seconds = statistics.elapsed_us / 1e6;
  if (!statistics.mostly_unjudged()) return item;
  item.status = CiStatus::kFailed;
  item.rule = kNotJudged;
  item.message =
      fmt::format("nothing was judged in {} of {} cases", statistics.cases - statistics.judged, statistics.cases);
  for (const auto& [reason, count] : statistics.skips) item.detail += fmt::format("{} {}\n", count, reason);
  return item;
}

CiItem replay_item(const CorpusEntry& entry, const ReplayResult& result, const std::string& suite,
                   const ReplayCounting& counting, const std::string& options) {
  using Status = ReplayResult::Status;
  CiItem item;
  item.suite = suite;
  item.name = entry.path;
  item.file = entry.path;
  item.message = std::string(replay_status_name(result.status));
  const bool fails = result.fails_now();
  const Verdict* verdict = verdict_of(entry, result);
  if (verdict) {
    item.message += ": " + finding_key(*verdict) + (verdict->reason.empty() ? "" : ": " + verdict->reason);
    item.detail = lines_of(*verdict);
  }
  item.detail += (result.note.empty() ? "" : result.note + "\n") + replay_command(entry.path) +
                 (options.empty() ? "" : " " + options) + "\n";
  if (counting.expect_failing) {
    if (!is_surprise(result)) return item;
    item.status = CiStatus::kFailed;
    item.rule = kUnexpected;
  } else if (fails) {
    item.status = CiStatus::kFailed;
    item.level = result.fault || counting.fail_on_gaps ? CiLevel::kError : CiLevel::kWarning;
    item.rule = verdict && verdict->cls ? verdict_class_name(*verdict->cls) : kUnexpected;
  } else if (result.status == Status::kNotJudged) {
    item.status = CiStatus::kSkipped;
  }
  if (verdict) item.fingerprint = finding_key(*verdict);
  return item;
}

CiItem known_case_item(const KnownCase& known, const std::string& suite, bool strict) {
  CiItem item;
  item.suite = suite;
  item.name = "known issue " + known.link + ", " + known.path;
  item.file = known.path;
  item.message = fmt::format("{} ({})", known_case_status_name(known.status), known.note);
  if (known.status == KnownCase::Status::kNotTried) item.status = CiStatus::kSkipped;
  if (known.status == KnownCase::Status::kNotTried || known.status == KnownCase::Status::kStillFails) return item;
  item.status = CiStatus::kFailed;
  item.level = strict ? CiLevel::kError : CiLevel::kWarning;
  item.rule = kUnexpected;
  return item;
}

CiItem not_run_item(const std::string& case_path, const std::string& suite, const std::string& why) {
  CiItem item;
  item.suite = suite;
  item.name = item.file = case_path;
  item.status = CiStatus::kFailed;
  item.rule = kNotRun;
  item.message = why.substr(0, why.find('\n'));
  item.detail = why;
  return item;
}

}  // namespace aotifuzz
