#include "campaign/campaign.h"

#include <algorithm>
#include <deque>
#include <latch>
#include <thread>
#include <utility>

#include "campaign/campaign_board.h"
#include "campaign/feedback.h"
#include "campaign/guided_draws.h"
#include "core/check.h"
#include "core/error.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

// Suspects when a failure does not come back alone; damage that hides longer is rare and costly to look for.
constexpr size_t kEarlierMax = 8;

/// One job: draws its cases, has them run, and looks into what fails.
class CampaignJob {
 public:
  CampaignJob(size_t index, size_t jobs, CampaignJobParts parts, const CampaignSubject& subject,
              const CampaignOptions& options, CampaignBoard& board)
      : index_(index),
        jobs_(jobs),
        parts_(parts),
        triage_(subject.triage()),
        tools_{subject, options, parts.executor, [this](const char* activity) { board_.tick(index_, activity); },
               [this] { return board_.stopped(); }},
        board_(board) {}

  void run() {
    parts_.executor.set_careful(false);
    while (const auto c = board_.take_pending(index_)) {
      board_.count_pending_case();
      run_case(*c, violations(triage_.contract, *c));
      board_.dealt_with_pending(index_);
    }
    if (parts_.engine) {
      draw_guided();
    } else {
      run_given();
      draw_cases(board_.first_case(index_));
    }
    while (const auto gap = board_.next_gap_after_time()) look_into(*gap);
  }

 private:
  void run_given() {
    const std::vector<Case> given = parts_.source.given();
    for (size_t i = index_; i < given.size(); i += jobs_) {
      const std::vector<Violation> broken = violations(triage_.contract, given[i]);
      if (board_.next(given[i], broken) == CampaignBoard::Next::kRun) run_case(given[i], broken);
    }
  }

  void draw_cases(uint64_t from) {
    const std::vector<Case> seeds = parts_.source.seeds();
    for (uint64_t k = from;; ++k) {
      // The seed cases are the same for each job: they share them.
      if (k < seeds.size() && k % jobs_ != index_) continue;
      const Case c = k < seeds.size() ? seeds[k] : parts_.source.draw(k - seeds.size());
      const std::vector<Violation> broken = violations(triage_.contract, c);
      const CampaignBoard::Next next = board_.next(c, broken);
      if (next == CampaignBoard::Next::kEnd) return;
      if (next == CampaignBoard::Next::kRun) run_case(c, broken);
      board_.drawn(index_, k + 1);
      if (const auto gap = board_.next_gap()) look_into(*gap);
    }
  }

  void draw_guided() {
    GuidedDraws draws(*parts_.engine, parts_.source, index_, jobs_, board_.first_case(index_));
    bool lost = false;
    while (const std::optional<Case> c = next_guided(draws, &lost)) {
      const std::vector<Violation> broken = violations(triage_.contract, *c);
      const CampaignBoard::Next next = board_.next(*c, broken);
      if (next == CampaignBoard::Next::kEnd) break;
      if (next == CampaignBoard::Next::kRun) {
        run_case(*c, broken, &draws);
      } else {
        draws.passed_over();
      }
      board_.drawn(index_, draws.position());
      if (const auto gap = board_.next_gap()) look_into(*gap);
    }
    board_.count_refused_units(draws.refused());
    if (lost) draw_cases(draws.position());
  }

  /// An engine that ends before the first case is an error of its flags or its corpus; later on it takes nothing along.
  std::optional<Case> next_guided(GuidedDraws& draws, bool* lost) {
    try {
      return draws.next([this] { return board_.stopped() || board_.out_of_time(); });
    } catch (const HarnessError& error) {
      if (draws.handed_out() == 0) throw;
      const std::string what = error.what();
      board_.note("from " + std::to_string(draws.handed_out()) + " cases of job " + std::to_string(index_ + 1) +
                  " on, cases were drawn at random: " + what.substr(0, what.find('\n')));
      *lost = true;
      return std::nullopt;
    }
  }

  void run_case(const Case& c, const std::vector<Violation>& broken, GuidedDraws* draws = nullptr) {
    const CaseResult result = parts_.executor.run(c);
    if (result.fresh_child) in_this_process_.clear();
    const std::vector<Verdict> verdicts = judge_result(triage_, c, result);
    // First of all: libFuzzer works on while a failure is looked into.
    if (draws) draws->ran(counters_of(features_of(c, broken, result, verdicts)));
    const auto suspicions = board_.add(index_, c, broken, result, verdicts, in_this_process_);
    in_this_process_.push_back(c);
    if (in_this_process_.size() > kEarlierMax) in_this_process_.pop_front();
    for (const Suspicion& suspicion : suspicions) look_into(suspicion);
  }

  void look_into(const Suspicion& suspicion) {
    const auto begin = Clock::now();
    parts_.executor.set_careful(true);
    ExplainedFinding explained{investigate(tools_, suspicion, board_.reduce_time(suspicion.verdict)), {}, ""};
    parts_.executor.set_careful(false);
    if (explained.finding.reproduced > 0) {
      const std::lock_guard<std::mutex> guard(board_.explaining);
      explained = explain(tools_, std::move(explained.finding));
    }
    board_.conclude(index_, suspicion, std::move(explained), begin);
    // After replays the process is another one.
    in_this_process_.clear();
  }

  size_t index_, jobs_;
  CampaignJobParts parts_;
  TriageContext triage_;
  InvestigationTools tools_;
  CampaignBoard& board_;
  std::deque<Case> in_this_process_;  ///< cases that the executor's process ran before the current one
};

}  // namespace

int CampaignResult::known_faults() const {
  return static_cast<int>(std::count_if(ledger.known.begin(), ledger.known.end(), [this](const auto& known) {
    return known.second.fault && !excuses.contains(known.first);
  }));
}

int CampaignResult::known_gaps() const {
  return static_cast<int>(std::count_if(ledger.known.begin(), ledger.known.end(), [this](const auto& known) {
    return !known.second.fault && !excuses.contains(known.first);
  }));
}

int CampaignResult::exit_code(bool fail_on_gaps) const {
  if (known_faults() > 0 || (fail_on_gaps && known_gaps() > 0)) return kExitFaults;
  return statistics.mostly_unjudged() ? kExitWorld : kExitNoFaults;
}

Campaign::Campaign(CampaignSubject subject, CampaignOptions options, std::vector<CampaignJobParts> jobs,
                   CampaignListener& listener)
    : subject_(std::move(subject)), options_(std::move(options)), jobs_(std::move(jobs)), listener_(listener) {
  AOTIFUZZ_CHECK(!jobs_.empty());
}

CampaignResult Campaign::run(const std::atomic<bool>& stop) {
  CampaignBoard board(subject_, options_, listener_, stop, jobs_.size());
  board.open();
  for (size_t job = 0; job < jobs_.size(); ++job) board.note_draws(job, jobs_[job].source.draws());
  // A worker dies with the thread that started it, and those of other allocators serve all jobs: none goes first.
  std::latch all_done(static_cast<std::ptrdiff_t>(jobs_.size()));
  const auto run_job = [&](size_t index) {
    try {
      CampaignJob(index, jobs_.size(), jobs_[index], subject_, options_, board).run();
    } catch (...) {
      board.fail(std::current_exception());
    }
    all_done.arrive_and_wait();
  };
  {
    std::vector<std::jthread> others;
    for (size_t index = 1; index < jobs_.size(); ++index) others.emplace_back(run_job, index);
    run_job(0);
  }
  board.rethrow();
  return board.close();
}

}  // namespace aotifuzz
