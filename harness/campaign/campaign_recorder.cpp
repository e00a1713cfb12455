#include "campaign/campaign_recorder.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

// A curve of a few hundred points tells all; a campaign of eight hours has some 1,200 with this.
constexpr double kSampleShare = 0.005, kSampleMin = 1;

CampaignRecord::Sample sample_of(const CampaignResult& result) {
  return {result.statistics.elapsed_us / 1e6, result.statistics.cases, result.coverage.cells().size(),
          result.ledger.known.size()};
}

}  // namespace

void CampaignRecorder::open(Coverage* coverage) {
  records_ = load_campaign_records(options_.out);
  began_ = std::time(nullptr);
  coverage->start_from(records_[subject_.context.package_hash].cells);
}

void CampaignRecorder::sample(const CampaignResult& so_far) {
  const double seconds = so_far.statistics.elapsed_us / 1e6;
  if (!samples_.empty() && seconds - samples_.back().seconds < std::max(kSampleMin, kSampleShare * seconds)) return;
  samples_.push_back(sample_of(so_far));
}

CampaignRecord CampaignRecorder::of_this_run(const CampaignResult& result) const {
  const Statistics& statistics = result.statistics;
  const Coverage& coverage = result.coverage;
  CampaignRecord record;
  record.package = subject_.package;
  record.aotifuzz_version = subject_.aotifuzz_version;
  record.environment = subject_.environment;
  record.oracles = subject_.oracles;
  record.not_judged = subject_.not_judged;
  for (const Condition& condition : subject_.contract.conditions) record.conditions.push_back(condition.text);
  for (const auto& [name, dimension] : coverage.dimensions())
    record.dimensions[name] = {dimension.least,     dimension.greatest, dimension.cases,
                               dimension.landmarks, dimension.hit,      {}};
  for (const SymbolSpec& symbol : subject_.contract.symbols)
    if (symbol.max && !symbol.dim.empty()) record.dimensions[symbol.dim].declared_max = {*symbol.max};
  record.layouts = coverage.layouts();
  record.values = coverage.values();
  record.dtypes = coverage.dtypes();
  record.broken = coverage.broken();
  record.cells = coverage.cells();
  record.cases = statistics.cases;
  record.within_contract = coverage.legal_shaped();
  record.judged = statistics.judged;
  record.deaths = statistics.deaths;
  record.passed_over = statistics.passed_over;
  record.steered_away = statistics.steered_away;
  record.gaps_waiting = result.gaps_waiting;
  record.seconds = statistics.elapsed_us / 1e6;
  record.seconds_reducing = statistics.reduction_us / 1e6;
  record.outcomes = statistics.outcomes;
  record.verdicts = statistics.verdicts;
  record.skips = statistics.skips;
  record.mistrusted = statistics.mistrusted;
  for (const auto& [key, times] : result.set_aside) record.set_aside[key] = static_cast<uint64_t>(times);
  for (const auto& [key, excuse] : result.excuses)
    if (const auto known = result.ledger.known.find(key); known != result.ledger.known.end())
      record.excuses[known->second.slug] = excuse;
  CampaignRecord::Run run{began_, record.seconds, record.cases, {}};
  for (const auto& job : result.jobs) run.jobs.push_back({job.seed, job.first_case, job.cases, job.draws});
  record.runs.push_back(std::move(run));
  record.samples = samples_;
  record.samples.push_back(sample_of(result));
  return record;
}

void CampaignRecorder::write(const CampaignResult& so_far) {
  CampaignRecords records = records_;
  CampaignRecord& own = records[subject_.context.package_hash];
  own = merged(own, of_this_run(so_far));
  write_file_whole(options_.out + "/statistics.json", print_campaign_records(records));
}

}  // namespace aotifuzz
