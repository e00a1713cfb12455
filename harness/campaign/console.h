#pragma once

#include <chrono>
#include <string>

#include "campaign/campaign.h"

namespace aotifuzz {

/// Says on stderr what a campaign is doing: one line that is overwritten on a terminal, one line every ten seconds
/// elsewhere, and each finding as it comes. stdout stays free for the summary.
class Console final : public CampaignListener {
 public:
  Console();
  ~Console() override { clear(); }
  void on_progress(const Progress& progress) override;
  void on_finding(const Finding& finding, const std::string& folder) override;
  void clear();  ///< takes the status line off the terminal

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_, last_;
};

}  // namespace aotifuzz
