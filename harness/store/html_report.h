#pragma once

#include <string>
#include <vector>

#include "store/campaign_record.h"
#include "store/finding_record.h"

namespace aotifuzz {

/// A campaign's folder as one page that opens offline: findings first, then what was tested and what was not, and how
/// coverage and speed grew. Self-contained (its CSS and SVG are in it, no script, no resource from elsewhere), dark and
/// light as the reader's system is, well-formed XML, whatever the text in it is. What the records do not say is left
/// out. Links to report.md and case.txt of a finding are relative to the folder. `findings` in the order to show.
std::string print_html_report(const CampaignRecords& records, const std::vector<FindingRecord>& findings);

}  // namespace aotifuzz
