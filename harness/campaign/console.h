#pragma once

#include <chrono>
#include <string>

#include "campaign/campaign.h"

namespace aotifuzz {

/// Says what a campaign is doing, and each finding as it comes.
class Console final : public CampaignListener {
 public:
  enum class Style {
    kPeople,     ///< on stderr: a line that is overwritten on a terminal, a line every ten seconds elsewhere
    kQuiet,      ///< nothing
    kJsonLines,  ///< on stdout: an object a second and one for each finding (campaign/status.h)
  };
  explicit Console(Style style);
  ~Console() override { clear(); }
  void on_progress(const Progress& progress) override;
  void on_finding(const Finding& finding, const std::string& folder, const std::string& excuse) override;
  void on_merged(const std::string& folder, const std::string& into) override;
  void clear();  ///< takes the status line off the terminal

 private:
  Style style_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace aotifuzz
