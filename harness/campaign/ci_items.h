#pragma once

#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/excuses.h"
#include "campaign/replay.h"
#include "store/ci_report.h"
#include "store/finding_record.h"

namespace aotifuzz {

/// The verdict classes with their meaning, and what else an item of a campaign or replay may be ("not-run").
std::vector<CiRule> ci_rules();

/// One item: an error when it is what makes the exit code 1, else a warning. `suite` names the package.
CiItem finding_item(const FindingRecord& finding, const std::string& suite, bool fail_on_gaps);

/// That the campaign itself went as it should: it fails when it judged less than half of its cases.
CiItem campaign_item(const CampaignResult& result, const std::string& suite);

/// What counts as failing is an error, as in the exit code of `replay`.
struct ReplayCounting {
  bool fail_on_gaps = false;
  bool expect_failing = false;  ///< a corpus of known failures: an error is what is fixed or changed
};
/// `options`: of the command that replays it, beside the case.
CiItem replay_item(const CorpusEntry& entry, const ReplayResult& result, const std::string& suite,
                   const ReplayCounting& counting, const std::string& options = "");

/// A case of a known issue that no longer fails: an error when `strict`, else a warning. Passed or skipped otherwise.
CiItem known_case_item(const KnownCase& known, const std::string& suite, bool strict);

/// A case that could not be run: `why` in words.
CiItem not_run_item(const std::string& case_path, const std::string& suite, const std::string& why);

}  // namespace aotifuzz
