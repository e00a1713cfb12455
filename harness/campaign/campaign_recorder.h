#pragma once

#include "campaign/campaign.h"
#include "store/campaign_record.h"

namespace aotifuzz {

/// Keeps OUT/statistics.json: what earlier runs came to, and this one on top. Not thread-safe.
class CampaignRecorder {
 public:
  CampaignRecorder(const CampaignSubject& subject, const CampaignOptions& options)
      : subject_(subject), options_(options) {}

  /// Reads what is there, and tells `coverage` which cells are not new. Throws HarnessError.
  void open(Coverage* coverage);
  /// Notes how far the campaign is, now and then: once a second at first, more rarely as it grows older.
  void sample(const CampaignResult& so_far);
  /// Writes the whole. Throws HarnessError.
  void write(const CampaignResult& so_far);

 private:
  CampaignRecord of_this_run(const CampaignResult& result) const;

  const CampaignSubject& subject_;
  const CampaignOptions& options_;
  CampaignRecords records_;  ///< as they were before this run
  int64_t began_ = 0;
  std::vector<CampaignRecord::Sample> samples_;
};

}  // namespace aotifuzz
