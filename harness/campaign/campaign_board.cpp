#include "campaign/campaign_board.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;
using Guard = std::lock_guard<std::mutex>;

constexpr std::chrono::seconds kSaveEvery{5}, kRecordEvery{5};
// A campaign of 2,000 cases on a large model must not spend its hour on shrinking thirty gaps first.
constexpr double kGapShare = 0.25;
constexpr std::chrono::milliseconds kGapReduceTimeMin{1'000};
constexpr std::chrono::seconds kFinishMin{10};

}  // namespace

CampaignBoard::CampaignBoard(const CampaignSubject& subject, const CampaignOptions& options, CampaignListener& listener,
                             const std::atomic<bool>& stop, size_t jobs)
    : subject_(subject),
      options_(options),
      listener_(listener),
      stop_(stop),
      jobs_(jobs),
      recorder_(subject, options) {}

void CampaignBoard::open() {
  make_folder(options_.out);
  folder_.emplace(options_.out);
  remove_leftovers(options_.out);
  remove_leftovers(options_.out + "/findings");
  ledger_ = load_ledger(options_.out + "/state.json");
  recorder_.open(&result_.coverage);
  for (const auto& [dimension, values] : subject_.landmarks) result_.coverage.expect(dimension, values);
  result_.statistics.jobs = static_cast<int>(jobs_.size());
  result_.ledger = ledger_.packages[subject_.context.package_hash];
  result_.ledger.package = subject_.package;
  // Whoever deletes a finding's folder wants it found again.
  std::erase_if(result_.ledger.known, [this](const auto& known) {
    return !std::filesystem::exists(options_.out + "/findings/" + known.second.slug);
  });
  if (options_.excuse) excuse_earlier_findings();
  for (size_t job = 0; job < jobs_.size(); ++job) {
    jobs_[job].seed = options_.seed + job;
    jobs_[job].first_case = result_.ledger.next_case[std::to_string(jobs_[job].seed)];
  }
  auto pending = std::exchange(result_.ledger.pending, {});
  unfinished_.assign(pending.begin(), pending.end());
  begin_ = last_save_ = last_record_ = Clock::now();
  record();
}

CampaignResult CampaignBoard::close() {
  for (auto& [key, finding] : std::exchange(waiting_, {})) {
    result_.set_aside.erase(key);
    report({std::move(finding), std::nullopt, ""}, key, 0);
  }
  result_.interrupted = stop_;
  result_.statistics.passed_over = novelty_.passed_over();
  result_.statistics.steered_away = steering_.passed_over();
  if (result_.statistics.steered_away > 0) result_.statistics.steered_from = steering_.learned();
  result_.statistics.elapsed_us = elapsed_us();
  save();
  record();
  std::stable_sort(result_.findings.begin(), result_.findings.end(), [](const auto& a, const auto& b) {
    return finding_rank(a.finding.verdict) < finding_rank(b.finding.verdict);
  });
  return std::move(result_);
}

std::optional<Case> CampaignBoard::take_pending(size_t job) {
  const Guard guard(mutex_);
  while (!unfinished_.empty()) {
    being_rerun_[job] = unfinished_.front();
    unfinished_.pop_front();
    try {
      if (auto c = parse_case(being_rerun_[job])) {
        load_case_files(*c, options_.out);
        return std::move(*c);
      }
    } catch (const HarnessError&) {
      // Its values are gone, and with them what it would have shown.
    }
    being_rerun_.erase(job);
  }
  return std::nullopt;
}

void CampaignBoard::dealt_with_pending(size_t job) {
  const Guard guard(mutex_);
  being_rerun_.erase(job);
}

CampaignBoard::Next CampaignBoard::next(const Case& c, const std::vector<Violation>& broken) {
  if (stopped() || out_of_time()) return Next::kEnd;
  const Guard guard(mutex_);
  if (options_.cases && cases_begun_ >= *options_.cases) return Next::kEnd;
  if (!novelty_.is_worth_running(c, broken)) return Next::kPassOver;
  if (broken.empty() && !steering_.is_worth_running(c)) return Next::kPassOver;
  ++cases_begun_;
  return Next::kRun;
}

void CampaignBoard::count_pending_case() {
  const Guard guard(mutex_);
  ++cases_begun_;
}

void CampaignBoard::note(const std::string& sentence) {
  const Guard guard(mutex_);
  result_.statistics.notes.push_back(sentence);
}

void CampaignBoard::count_refused_units(uint64_t units) {
  const Guard guard(mutex_);
  result_.statistics.refused_units += units;
}

std::vector<Suspicion> CampaignBoard::add(size_t job, const Case& c, const std::vector<Violation>& broken,
                                          const CaseResult& result, const std::vector<Verdict>& verdicts,
                                          const std::deque<Case>& earlier) {
  const Guard guard(mutex_);
  result_.statistics.add(result, verdicts);
  if (result_.coverage.add(c, broken)) new_cell_us_ = elapsed_us();
  ++result_.ledger.cases;
  ++jobs_[job].cases;
  std::vector<Suspicion> to_look_into;
  bool news = false, failed = false;
  for (const Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::kFail) continue;
    failed = true;
    const std::string key = finding_key(verdict);
    if (is_settled(verdict, key)) continue;
    news = true;
    Suspicion suspicion{c, verdict, {earlier.begin(), earlier.end()}, 0, result_.ledger.cases};
    if (!verdict.fault && !gaps_may_have_time()) {
      pending_.emplace(key, std::move(suspicion));
      save();
      continue;
    }
    to_look_into.push_back(suspicion);
    in_work_.emplace(key, std::move(suspicion));
  }
  novelty_.ran(c, broken, news);
  if (broken.empty()) steering_.ran(c, failed && !news);
  return to_look_into;
}

void CampaignBoard::drawn(size_t job, uint64_t next_case) {
  const Guard guard(mutex_);
  result_.ledger.next_case[std::to_string(jobs_[job].seed)] = next_case;
  if (Clock::now() - last_save_ >= kSaveEvery) save();
  if (Clock::now() - last_record_ >= kRecordEvery) record();
  tick_locked(job, "fuzzing");
}

bool CampaignBoard::gaps_may_have_time() const {
  return gap_us_ <= kGapShare * elapsed_us() * static_cast<double>(jobs_.size());
}

std::optional<Suspicion> CampaignBoard::take_gap() {
  const auto next = std::min_element(pending_.begin(), pending_.end(), [](const auto& a, const auto& b) {
    return finding_rank(a.second.verdict) < finding_rank(b.second.verdict);
  });
  if (next == pending_.end()) return std::nullopt;
  Suspicion suspicion = next->second;
  in_work_.insert(pending_.extract(next));
  return suspicion;
}

std::optional<Suspicion> CampaignBoard::next_gap() {
  const Guard guard(mutex_);
  return !stopped() && gaps_may_have_time() ? take_gap() : std::nullopt;
}

/// The rest stays in the ledger.
std::optional<Suspicion> CampaignBoard::next_gap_after_time() {
  const Guard guard(mutex_);
  const bool in_time = !options_.time || Clock::now() - begin_ <
                                             *options_.time + std::max<Clock::duration>(*options_.time / 4, kFinishMin);
  return !stopped() && in_time ? take_gap() : std::nullopt;
}

bool CampaignBoard::out_of_time() const { return options_.time && Clock::now() - begin_ >= *options_.time; }

std::chrono::milliseconds CampaignBoard::reduce_time(const Verdict& verdict) const {
  if (verdict.fault || !options_.time) return options_.reduce_time;
  // What is left at the end of a short campaign is shrunk as far as a moment allows; `minimize` goes on from there.
  const auto share =
      out_of_time() ? kGapReduceTimeMin : std::max<std::chrono::milliseconds>(*options_.time / 10, kGapReduceTimeMin);
  return std::min<std::chrono::milliseconds>(share, options_.reduce_time);
}

void CampaignBoard::conclude(size_t job, const Suspicion& suspicion, ExplainedFinding explained,
                             Clock::time_point begin) {
  const Guard guard(mutex_);
  result_.statistics.reduction_runs += static_cast<uint64_t>(explained.finding.reduction_runs);
  settle(suspicion, std::move(explained));
  // Writing it down is part of the work.
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  result_.statistics.reduction_us += us;
  jobs_[job].reduction_us += us;
  if (!suspicion.verdict.fault) gap_us_ += us;
}

void CampaignBoard::save() {
  auto& pending = result_.ledger.pending;
  pending.assign(unfinished_.begin(), unfinished_.end());
  for (const auto& [job, text] : being_rerun_) pending.push_back(text);
  for (const auto* list : {&in_work_, &pending_})
    for (const auto& [key, suspicion] : *list) pending.push_back(print_case(suspicion.input));
  std::sort(pending.begin(), pending.end());
  pending.erase(std::unique(pending.begin(), pending.end()), pending.end());
  ledger_.packages[subject_.context.package_hash] = result_.ledger;
  write_file_whole(options_.out + "/state.json", print_ledger(ledger_));
  last_save_ = Clock::now();
}

void CampaignBoard::record() {
  result_.gaps_waiting = pending_.size() + unfinished_.size();
  result_.jobs = jobs_;
  result_.statistics.elapsed_us = elapsed_us();
  result_.statistics.passed_over = novelty_.passed_over();
  result_.statistics.steered_away = steering_.passed_over();
  recorder_.write(result_);
  last_record_ = Clock::now();
}

void CampaignBoard::tick(size_t job, const char* activity) {
  const Guard guard(mutex_);
  tick_locked(job, activity);
}

void CampaignBoard::tick_locked(size_t job, const char* activity) {
  jobs_[job].activity = activity;
  result_.statistics.elapsed_us = elapsed_us();
  result_.statistics.passed_over = novelty_.passed_over();
  result_.statistics.steered_away = steering_.passed_over();
  recorder_.sample(result_);
  listener_.on_progress({result_.statistics, result_.coverage, result_.ledger, jobs_, new_cell_us_, new_finding_us_});
}

void CampaignBoard::fail(std::exception_ptr error) {
  const Guard guard(mutex_);
  if (!error_) error_ = std::move(error);
  failed_ = true;
}

void CampaignBoard::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

double CampaignBoard::elapsed_us() const {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin_).count();
}

}  // namespace aotifuzz
