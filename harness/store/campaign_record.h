#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace aotifuzz {

/// What all runs of a campaign on one package came to: a section of OUT/statistics.json, which report.html is made of.
/// A kill loses at most the last seconds of it, never findings or positions: those are in state.json.
struct CampaignRecord {
  struct Dimension {
    int64_t least = 0, greatest = 0;  ///< sizes that were tried; read only when cases > 0
    uint64_t cases = 0;
    std::set<int64_t> landmarks, hit;   ///< sizes worth trying, and those of them that were tried
    std::vector<int64_t> declared_max;  ///< one or none
  };
  struct Job {
    uint64_t seed = 0, first_case = 0, cases = 0;
    std::string draws;  ///< what is special about its mix of generators; "" = nothing
  };
  struct Run {
    int64_t began = 0;  ///< seconds since 1970
    double seconds = 0;
    uint64_t cases = 0;
    std::vector<Job> jobs;
  };
  /// A moment: time and cases since the beginning of the first run, and what was known and covered then.
  struct Sample {
    double seconds = 0;
    uint64_t cases = 0, cells = 0, findings = 0;
  };
  std::string package, aotifuzz_version;
  std::map<std::string, std::string> environment;
  std::vector<std::string> oracles, not_judged, conditions;  ///< conditions: of the contract, as findings name them
  std::map<std::string, Dimension> dimensions;
  std::map<std::string, uint64_t> layouts, values, dtypes, broken;
  std::set<std::string> cells;
  uint64_t cases = 0, within_contract = 0, judged = 0, deaths = 0, passed_over = 0, steered_away = 0, gaps_waiting = 0;
  double seconds = 0, seconds_reducing = 0;  ///< the latter of all jobs together
  std::map<std::string, uint64_t> outcomes, verdicts, skips, mistrusted, set_aside;
  std::map<std::string, std::string> excuses;  ///< of findings that do not count, by folder name
  std::vector<Run> runs;
  std::vector<Sample> samples;
};

/// By content hash of the package.
using CampaignRecords = std::map<std::string, CampaignRecord>;

std::string print_campaign_records(const CampaignRecords& records);
Result<CampaignRecords> parse_campaign_records(std::string_view text);  ///< hostile input is an error, never a crash

/// Reads OUT/statistics.json; an absent file holds none. Throws HarnessError for one that cannot be read.
CampaignRecords load_campaign_records(const std::string& out);

/// `earlier` and the run in `now`, which has one Run, and samples with time and cases of its own.
CampaignRecord merged(const CampaignRecord& earlier, CampaignRecord now);

}  // namespace aotifuzz
