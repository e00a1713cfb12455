#pragma once

#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign_recorder.h"
#include "campaign/investigation.h"
#include "campaign/novelty.h"
#include "campaign/steering.h"

namespace aotifuzz {

/// What the jobs of a campaign share: what is known, what is being looked into and by whom, counts, and OUT. Whatever
/// is known is on disk at any moment in such a form that a kill loses nothing: a case counts as drawn only when it has
/// been dealt with, and a suspicion is among the pending ones until its finding is written.
///
/// Thread-safe but for open() and close(). `job` is the index of the job that calls.
class CampaignBoard {
 public:
  CampaignBoard(const CampaignSubject& subject, const CampaignOptions& options, CampaignListener& listener,
                const std::atomic<bool>& stop, size_t jobs);

  /// Takes OUT and reads its state. Throws HarnessError.
  void open();
  /// Writes what is left and gives the result.
  CampaignResult close();

  /// A case that failed in an earlier run and was not looked into; it stays in the ledger until deal_with_pending().
  std::optional<Case> take_pending(size_t job);
  void dealt_with_pending(size_t job);

  enum class Next { kRun, kPassOver, kEnd };
  /// Whether the job should run this case, which breaks `broken`. kEnd: the limits are reached, or the campaign stops.
  Next next(const Case& c, const std::vector<Violation>& broken);
  /// For cases of an earlier run, which no limit holds back.
  void count_pending_case();
  /// What did not go as asked for, as a sentence: the summary shows it.
  void note(const std::string& sentence);
  /// Units of a guided campaign's corpus that are no case of this program.
  void count_refused_units(uint64_t units);
  /// Takes in a case that ran. What comes back is for this job to look into, now, each with conclude().
  std::vector<Suspicion> add(size_t job, const Case& c, const std::vector<Violation>& broken, const CaseResult& result,
                             const std::vector<Verdict>& verdicts, const std::deque<Case>& earlier);
  /// The job has dealt with all its draws below this one.
  void drawn(size_t job, uint64_t next_case);
  /// Before any job runs: what is special about how this one draws.
  void note_draws(size_t job, std::string draws) { jobs_[job].draws = std::move(draws); }
  uint64_t first_case(size_t job) const { return jobs_[job].first_case; }

  /// A gap that waits for its share of the time; none when there is none or it is not its turn yet.
  std::optional<Suspicion> next_gap();
  /// The same once the time for cases is over: gaps are finished for as long again as a user would call on time.
  std::optional<Suspicion> next_gap_after_time();
  std::chrono::milliseconds reduce_time(const Verdict& verdict) const;
  /// What an investigation that began at `begin` came to.
  void conclude(size_t job, const Suspicion& suspicion, ExplainedFinding explained,
                std::chrono::steady_clock::time_point begin);

  void tick(size_t job, const char* activity);
  bool stopped() const { return stop_ || failed_; }
  bool out_of_time() const;
  /// A job met an error that ends the campaign; the first one is thrown by rethrow().
  void fail(std::exception_ptr error);
  void rethrow() const;

  /// Sanitizers and other allocators serve one job at a time.
  std::mutex explaining;

 private:
  std::optional<Suspicion> take_gap();
  std::string excuse(const std::string& key, const Verdict& verdict, const Case& minimal);
  void excuse_earlier_findings();
  bool is_put_down_to_another(const Verdict& verdict);
  bool is_settled(const Verdict& verdict, const std::string& key);
  bool gaps_may_have_time() const;
  void settle(const Suspicion& suspicion, ExplainedFinding explained);
  void report(ExplainedFinding explained, const std::string& key, uint64_t duplicates);
  void merge_hidden(const std::string& key, const std::string& folder);
  void save();
  void record();
  void tick_locked(size_t job, const char* activity);
  double elapsed_us() const;

  const CampaignSubject& subject_;
  const CampaignOptions& options_;
  CampaignListener& listener_;
  const std::atomic<bool>& stop_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;

  mutable std::mutex mutex_;  ///< of everything below
  std::optional<FolderLock> folder_;
  Novelty novelty_;
  Steering steering_;
  std::map<std::string, Suspicion> pending_;   ///< gaps that wait, by key
  std::map<std::string, Suspicion> in_work_;   ///< by key
  std::deque<std::string> unfinished_;         ///< pending cases of an earlier run that have not run yet
  std::map<size_t, std::string> being_rerun_;  ///< of these, the one that a job runs
  double gap_us_ = 0;                          ///< spent on gaps
  std::map<std::string, Finding> waiting_;     ///< shown only after other cases; reported when nothing better comes
  std::vector<CampaignListener::Job> jobs_;
  uint64_t cases_begun_ = 0;
  double new_cell_us_ = 0, new_finding_us_ = 0;
  Ledger ledger_;
  CampaignRecorder recorder_;
  std::chrono::steady_clock::time_point begin_, last_save_, last_record_;
  CampaignResult result_;
};

}  // namespace aotifuzz
