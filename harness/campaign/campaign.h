#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/allocator_modes.h"
#include "campaign/case_executor.h"
#include "campaign/case_source.h"
#include "campaign/coverage.h"
#include "campaign/novelty.h"
#include "campaign/sanitizer.h"
#include "campaign/statistics.h"
#include "campaign/triage.h"
#include "core/finding.h"
#include "store/finding_file.h"
#include "store/ledger.h"

namespace aotifuzz {

struct CampaignOptions {
  std::optional<std::chrono::milliseconds> time;  ///< none: no limit
  std::optional<uint64_t> cases;                  ///< none: no limit
  uint64_t seed = 1;
  std::string out;  ///< folder
  int confirm_runs = 5;
  int reduce_runs = 200;
  std::chrono::milliseconds reduce_time{60'000};  ///< per finding
  bool fail_on_gaps = false;
};

/// The package under test, as a campaign sees it.
struct CampaignSubject {
  const Contract& contract;
  bool has_reference = true;
  std::string package, model;
  std::map<std::string, std::string> environment;
  FindingContext context;                                 ///< inputs_python is filled in for each finding
  std::map<std::string, std::vector<int64_t>> landmarks;  ///< values worth trying, by dimension: for coverage
  std::vector<OtherAllocator> others = {};                ///< where memory faults are tried too
  /// Runs a case whose memory fault is confirmed under compute-sanitizer; throws HarnessError. Empty: not done.
  std::function<SanitizeResult(const Case&)> sanitize = {};
  const PackageInfo* info = nullptr;  ///< null: of kernels only the names are known
};

/// What a campaign tells while it runs.
class CampaignListener {
 public:
  virtual ~CampaignListener() = default;
  struct Progress {
    const Statistics& statistics;
    int faults = 0, gaps = 0;   ///< known so far, earlier runs included
    const char* activity = "";  ///< "fuzzing", "confirming", "reducing"
  };
  virtual void on_progress(const Progress& progress) = 0;
  virtual void on_finding(const Finding& finding, const std::string& folder) = 0;
};

struct CampaignResult {
  Statistics statistics;
  Coverage coverage;
  struct Reported {
    Finding finding;
    std::string key, folder;
  };
  std::vector<Reported> findings;        ///< of this run, in report order
  std::map<std::string, int> set_aside;  ///< failed verdicts that never came again, by key: how often seen
  Ledger::Section ledger;                ///< earlier runs included
  uint64_t first_case = 0;               ///< index that this run began with
  uint64_t seed = 1;
  bool interrupted = false;
  size_t gaps_waiting = 0;  ///< not looked into yet: the next run with the same folder does

  int known_faults() const;
  int known_gaps() const;
  /// Exit code of the program: DESIGN.md section 10.
  int exit_code(bool fail_on_gaps) const;
};

/// Draws cases, has them run, and turns failed verdicts into findings: the first of each kind is confirmed in fresh
/// processes, reduced and written to OUT/findings; later ones are counted and cost nothing. What OUT knows from earlier
/// runs is not reported again.
class Campaign {
 public:
  Campaign(CampaignSubject subject, CampaignOptions options, CaseExecutor& executor, const CaseSource& source,
           CampaignListener& listener);

  /// Ends at the limits of the options or when `stop` turns true; both ways everything known is on disk.
  CampaignResult run(const std::atomic<bool>& stop);

 private:
  /// A failed verdict and where it was seen.
  struct Suspicion {
    Case input;
    Verdict verdict;
    std::vector<Case> earlier;  ///< ran before it in the same process, oldest first
    uint64_t duplicates = 0;
  };

  void run_case(const Case& c, const std::vector<Violation>& broken);
  void run_pending_of_earlier_run();
  bool gaps_may_have_time() const;
  void investigate_next_gap();
  void triage(const Suspicion& suspicion);
  Finding investigate(const Suspicion& suspicion, const std::string& key);
  Finding reduced(const Suspicion& suspicion, const std::string& key, Finding finding, bool each_time, int replays);
  bool out_of_time() const;
  bool may_finish_gaps() const;
  std::chrono::milliseconds reduce_time(const Verdict& verdict) const;
  void report(Finding finding, const std::string& key, uint64_t duplicates);
  std::optional<SanitizeResult> explain_memory_fault(Finding* finding);
  void add_kernel_detail(Finding* finding, FindingContext* context) const;
  void save();
  void progress(const char* activity);
  bool stopped() const { return stop_ && *stop_; }

  CampaignSubject subject_;
  CampaignOptions options_;
  CaseExecutor& executor_;
  const CaseSource& source_;
  CampaignListener& listener_;
  TriageContext triage_;

  const std::atomic<bool>* stop_ = nullptr;
  Novelty novelty_;
  std::deque<Case> in_this_process_;          ///< cases that the executor's process ran before the current one
  std::map<std::string, Suspicion> pending_;  ///< gaps that wait for their share of the time, by key
  std::vector<std::string> unfinished_;       ///< pending cases of an earlier run that have not run yet
  double gap_us_ = 0;                         ///< spent on gaps
  std::map<std::string, Finding> waiting_;    ///< shown only after other cases; reported when nothing better comes
  Ledger ledger_;
  uint64_t next_case_ = 0;
  std::chrono::steady_clock::time_point begin_, last_save_;
  CampaignResult result_;
};

}  // namespace aotifuzz
