#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/allocator_modes.h"
#include "campaign/case_executor.h"
#include "campaign/case_source.h"
#include "campaign/coverage.h"
#include "campaign/engine_process.h"
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
  uint64_t seed = 1;                              ///< of the first job; the next has the next seed, and so on
  std::string out;                                ///< folder
  int confirm_runs = 5;
  int reduce_runs = 200;
  std::chrono::milliseconds reduce_time{60'000};  ///< per finding
  bool fail_on_gaps = false;
  /// Why a finding does not fail the run (campaign/excuses.h), "" when it does; no function: each does.
  std::function<std::string(const Verdict&, const Case& minimal)> excuse = {};
};

/// The package under test, as a campaign sees it.
struct CampaignSubject {
  const Contract& contract;
  bool has_reference = true;
  std::string package, model;
  std::map<std::string, std::string> environment;
  FindingContext context;                                 ///< inputs_python is filled in for each finding
  std::map<std::string, std::vector<int64_t>> landmarks;  ///< values worth trying, by dimension: for coverage
  /// Where memory faults are tried too; one job at a time.
  std::vector<OtherAllocator> others = {};
  /// Runs a case whose memory fault is confirmed under compute-sanitizer, for one job at a time; throws HarnessError.
  /// Empty: not done.
  std::function<SanitizeResult(const Case&)> sanitize = {};
  const PackageInfo* info = nullptr;  ///< null: of kernels only the names are known
  std::string aotifuzz_version = {};
  std::vector<std::string> oracles = {}, not_judged = {};  ///< that are on; lines of what is not judged, and why

  TriageContext triage() const { return {contract, has_reference, info}; }
};

/// What a job needs of its own: a job is a thread that draws cases and has them run.
struct CampaignJobParts {
  CaseExecutor& executor;
  const CaseSource& source;
  EngineProcess* engine = nullptr;  ///< libFuzzer, which guides the draws; null: they are independent of each other
};

/// What a campaign tells while it runs. Calls come from the threads of the jobs, one at a time.
class CampaignListener {
 public:
  virtual ~CampaignListener() = default;
  struct Job {
    uint64_t seed = 0;
    uint64_t first_case = 0;    ///< index that this run began with
    uint64_t cases = 0;         ///< of this run
    double reduction_us = 0;    ///< spent on confirming and reducing
    const char* activity = "";  ///< "fuzzing", "confirming", "reducing"
    std::string draws = {};     ///< as CaseSource::draws()
  };
  struct Progress {
    const Statistics& statistics;
    const Coverage& coverage;
    const Ledger::Section& ledger;  ///< what is known, earlier runs included
    const std::vector<Job>& jobs;
    double new_cell_us = 0;     ///< when the last new cell came, since the beginning of the run; 0: none yet
    double new_finding_us = 0;  ///< the same of findings
  };
  virtual void on_progress(const Progress& progress) = 0;
  /// `excuse`: why it does not fail the run; "" when it does.
  virtual void on_finding(const Finding& finding, const std::string& folder, const std::string& excuse) = 0;
  /// What was reported as a kernel's hidden error is the finding in `into` now, which outputs show; its folder is gone.
  virtual void on_merged(const std::string& folder, const std::string& into) = 0;
};

struct CampaignResult {
  Statistics statistics;
  Coverage coverage;
  struct Reported {
    Finding finding;
    std::string key, folder;
  };
  std::vector<Reported> findings;              ///< of this run, in report order
  std::map<std::string, int> set_aside;        ///< failed verdicts that never came again, by key: how often seen
  Ledger::Section ledger;                      ///< earlier runs included
  std::map<std::string, std::string> excuses;  ///< why known findings do not fail the run, by key
  std::vector<CampaignListener::Job> jobs;
  bool interrupted = false;
  size_t gaps_waiting = 0;  ///< not looked into yet: the next run with the same folder does

  /// Without those that have an excuse.
  int known_faults() const;
  int known_gaps() const;
  /// Exit code of the program: DESIGN.md section 10.
  int exit_code(bool fail_on_gaps) const;
};

/// Draws cases, has them run, and turns failed verdicts into findings: the first of each kind is confirmed in fresh
/// processes, reduced and written to OUT/findings; later ones are counted and cost nothing. What OUT knows from earlier
/// runs is not reported again. Several jobs do so at the same time and share what is known.
class Campaign {
 public:
  /// One job for each of `jobs`, at least one. The first runs in the thread that calls run().
  Campaign(CampaignSubject subject, CampaignOptions options, std::vector<CampaignJobParts> jobs,
           CampaignListener& listener);

  /// Ends at the limits of the options or when `stop` turns true; both ways everything known is on disk. Throws
  /// HarnessError, of whichever job met it, when all have ended.
  CampaignResult run(const std::atomic<bool>& stop);

 private:
  CampaignSubject subject_;
  CampaignOptions options_;
  std::vector<CampaignJobParts> jobs_;
  CampaignListener& listener_;
};

}  // namespace aotifuzz
