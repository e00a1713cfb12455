#include "store/campaign_record.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "store/atomic_file.h"

namespace aotifuzz {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignRecord::Dimension, least, greatest, cases, landmarks, hit,
                                                declared_max)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignRecord::Job, seed, first_case, cases, draws)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignRecord::Run, began, seconds, cases, jobs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignRecord::Sample, seconds, cases, cells, findings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CampaignRecord, package, aotifuzz_version, environment, oracles,
                                                not_judged, conditions, dimensions, layouts, values, dtypes, broken,
                                                cells, cases, within_contract, judged, deaths, passed_over,
                                                steered_away, gaps_waiting, seconds, seconds_reducing, outcomes,
                                                verdicts, skips, mistrusted, set_aside, excuses, runs, samples)

namespace {

using nlohmann::json;

constexpr int kVersion = 1;

void add(std::map<std::string, uint64_t>* to, const std::map<std::string, uint64_t>& from) {
  for (const auto& [name, count] : from) (*to)[name] += count;
}

void add(CampaignRecord::Dimension* to, const CampaignRecord::Dimension& from) {
  if (from.cases > 0) {
    to->least = to->cases ? std::min(to->least, from.least) : from.least;
    to->greatest = to->cases ? std::max(to->greatest, from.greatest) : from.greatest;
  }
  to->cases += from.cases;
  to->hit.insert(from.hit.begin(), from.hit.end());
}

}  // namespace

std::string print_campaign_records(const CampaignRecords& records) {
  const json root = {{"version", kVersion}, {"packages", records}};
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<CampaignRecords> parse_campaign_records(std::string_view text) {
  const json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return parse_error("not a JSON object", "statistics");
  if (const json version = root.value("version", json()); version != kVersion)
    return parse_error("unknown version " + version.dump(), "version");
  try {
    return root.value("packages", CampaignRecords{});
  } catch (const json::exception& error) {
    return parse_error("a field has the wrong type", error.what());
  }
}

CampaignRecords load_campaign_records(const std::string& out) {
  const std::string path = out + "/statistics.json";
  if (!std::filesystem::exists(path)) return {};
  auto records = parse_campaign_records(read_file(path));
  if (!records)
    throw HarnessError("the statistics of earlier runs cannot be read: " + records.error().what,
                       path + ", " + records.error().where, "move the file away: findings and positions are elsewhere");
  return std::move(*records);
}

CampaignRecord merged(const CampaignRecord& earlier, CampaignRecord now) {
  CampaignRecord out = std::move(now);
  for (const auto& [name, dimension] : earlier.dimensions) add(&out.dimensions[name], dimension);
  for (const auto field : {&CampaignRecord::layouts, &CampaignRecord::values, &CampaignRecord::dtypes,
                           &CampaignRecord::broken, &CampaignRecord::outcomes, &CampaignRecord::verdicts,
                           &CampaignRecord::skips, &CampaignRecord::mistrusted, &CampaignRecord::set_aside})
    add(&(out.*field), earlier.*field);
  out.cells.insert(earlier.cells.begin(), earlier.cells.end());
  for (const auto field : {&CampaignRecord::cases, &CampaignRecord::within_contract, &CampaignRecord::judged,
                           &CampaignRecord::deaths, &CampaignRecord::passed_over, &CampaignRecord::steered_away})
    out.*field += earlier.*field;
  std::vector<CampaignRecord::Sample> samples = earlier.samples;
  for (CampaignRecord::Sample sample : out.samples) {
    sample.seconds += earlier.seconds;
    sample.cases += earlier.cases;
    samples.push_back(sample);
  }
  out.samples = std::move(samples);
  out.seconds += earlier.seconds;
  out.seconds_reducing += earlier.seconds_reducing;
  out.runs.insert(out.runs.begin(), earlier.runs.begin(), earlier.runs.end());
  return out;
}

}  // namespace aotifuzz
