#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "campaign/campaign.h"
#include "campaign/triage.h"

namespace aotifuzz {

/// A failed verdict and where it was seen.
struct Suspicion {
  Case input;
  Verdict verdict;
  std::vector<Case> earlier;  ///< ran before it in the same process, oldest first
  uint64_t duplicates = 0;
  uint64_t after_cases = 0;  ///< as in Finding
};

/// What one job looks into suspicions with.
struct InvestigationTools {
  const CampaignSubject& subject;
  const CampaignOptions& options;
  CaseExecutor& executor;
  std::function<void(const char* activity)> progress;
  std::function<bool()> stopped;
};

/// Confirms a suspicion in fresh processes and reduces it, for at most `reduce_time`. `reproduced` 0: it never came
/// again. Damage by an earlier case of the process is put down to that case (Finding::before) and not reduced.
Finding investigate(const InvestigationTools& tools, const Suspicion& suspicion, std::chrono::milliseconds reduce_time);

/// A confirmed finding and what a sanitizer said of it.
struct ExplainedFinding {
  Finding finding;
  std::optional<SanitizeResult> sanitized;
  std::string sanitizer;  ///< how that went, for Statistics; "" = not asked
};

/// Of a memory fault that shows alone: which buffer, where the verdict cannot know it, and who else would notice. Any
/// other finding comes back as it is.
ExplainedFinding explain(const InvestigationTools& tools, Finding finding);

}  // namespace aotifuzz
