#include "campaign/report_file.h"

#include <algorithm>

#include "campaign/triage.h"
#include "core/error.h"
#include "store/atomic_file.h"
#include "store/html_report.h"

namespace aotifuzz {

std::string write_report_file(const std::string& out) {
  const CampaignRecords records = load_campaign_records(out);
  if (records.empty())
    throw HarnessError("no statistics of a campaign", out + "/statistics.json", "give the --out of aotifuzz fuzz");
  std::vector<FindingRecord> findings = read_findings(out);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return finding_rank(a.verdict) < finding_rank(b.verdict); });
  const std::string path = out + "/report.html";
  write_file_whole(path, print_html_report(records, findings));
  return path;
}

}  // namespace aotifuzz
