#pragma once

#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/excuses.h"

namespace aotifuzz {

/// What a summary says besides the campaign's own counts.
struct SummaryContext {
  std::string package;
  std::string out;
  std::string report;                   ///< path of report.html
  std::vector<std::string> oracles;     ///< that are on
  std::vector<std::string> not_judged;  ///< lines: what is not judged, and why
  uint64_t worker_starts = 0;
  uint64_t worker_children = 0;
  double recovery_us_max = 0;
  bool fail_on_gaps = false;
  std::vector<KnownCase> known_cases = {};
  bool strict_known = false;  ///< a known case that no longer fails makes the exit code 1

  /// Of the program.
  int exit_code(const CampaignResult& result) const;
};

/// The text that ends a campaign.
std::string print_summary(const CampaignResult& result, const SummaryContext& context);

/// The same as one JSON object, newline at the end; on one line with {"event": "summary"} in front when `one_line`.
std::string print_summary_json(const CampaignResult& result, const SummaryContext& context, bool one_line);

}  // namespace aotifuzz
