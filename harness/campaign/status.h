#pragma once

#include <string>

#include "campaign/campaign.h"

namespace aotifuzz {

/// One line for people: time, cases/s (of each job, where there are several), cells covered, findings by class, how
/// long ago the last cell and the last finding came, processes that died and workers lost, share of cases that nothing
/// judged and of draws passed over, what the jobs do. The most important stands first: terminals cut it.
std::string status_line(const CampaignListener::Progress& progress);

/// The same as one line of JSON, {"event": "status", ...}, without a newline. What has not come yet is null.
std::string status_json(const CampaignListener::Progress& progress);

/// {"event": "finding", ...}, without a newline.
std::string finding_json(const Finding& finding, const std::string& folder, const std::string& excuse);

/// {"event": "merged", "folder", "into"}, without a newline.
std::string merged_json(const std::string& folder, const std::string& into);

}  // namespace aotifuzz
