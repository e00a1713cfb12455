#include "campaign/campaign.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "campaign/confirmed_reduction.h"
#include "core/python_repro.h"
#include "package/kernel_detail.h"
#include "store/atomic_file.h"
#include "store/case_text.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

using Clock = std::chrono::steady_clock;

// Suspects when a failure does not come back alone; damage that hides longer is rare and costly to look for.
constexpr size_t kEarlierMax = 8;
// What never comes again is looked into this often, then only counted.
constexpr int kFlakyTries = 3;
// Runs of one candidate when the failure does not come each time.
constexpr int kFlakyAttempts = 3;
// A hang costs the whole limit each time, so fewer replays, each with more patience.
constexpr int kHangReplays = 2;
constexpr int kFirstReplays = 2;
constexpr double kHangPatience = 3;
constexpr std::chrono::seconds kSaveEvery{5};
// A campaign of 2,000 cases on a large model must not spend its hour on shrinking thirty gaps first.
constexpr double kGapShare = 0.25;
constexpr std::chrono::milliseconds kGapReduceTimeMin{1'000};
constexpr std::chrono::seconds kFinishMin{10};

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

}  // namespace

int CampaignResult::known_faults() const {
  return static_cast<int>(
      std::count_if(ledger.known.begin(), ledger.known.end(), [](const auto& known) { return known.second.fault; }));
}

int CampaignResult::known_gaps() const {
  return static_cast<int>(
      std::count_if(ledger.known.begin(), ledger.known.end(), [](const auto& known) { return !known.second.fault; }));
}

int CampaignResult::exit_code(bool fail_on_gaps) const {
  if (known_faults() > 0 || (fail_on_gaps && known_gaps() > 0)) return kExitFaults;
  return statistics.mostly_unjudged() ? kExitWorld : kExitNoFaults;
}

Campaign::Campaign(CampaignSubject subject, CampaignOptions options, CaseExecutor& executor, const CaseSource& source,
                   CampaignListener& listener)
    : subject_(std::move(subject)),
      options_(std::move(options)),
      executor_(executor),
      source_(source),
      listener_(listener),
      triage_{subject_.contract, subject_.has_reference, subject_.info} {}

CampaignResult Campaign::run(const std::atomic<bool>& stop) {
  stop_ = &stop;
  make_folder(options_.out);
  const FolderLock lock(options_.out);
  remove_leftovers(options_.out);
  remove_leftovers(options_.out + "/findings");
  ledger_ = load_ledger(options_.out + "/state.json");
  result_ = {};
  result_.seed = options_.seed;
  for (const auto& [dimension, values] : subject_.landmarks) result_.coverage.expect(dimension, values);
  result_.ledger = ledger_.packages[subject_.context.package_hash];
  result_.ledger.package = subject_.package;
  // Whoever deletes a finding's folder wants it found again.
  std::erase_if(result_.ledger.known, [this](const auto& known) {
    return !std::filesystem::exists(options_.out + "/findings/" + known.second.slug);
  });
  next_case_ = result_.first_case = result_.ledger.next_case[std::to_string(options_.seed)];
  begin_ = last_save_ = Clock::now();
  executor_.set_careful(false);

  run_pending_of_earlier_run();
  const std::vector<Case> seeds = source_.seeds();
  while (!stopped() && !out_of_time()) {
    if (options_.cases && result_.statistics.cases >= *options_.cases) break;
    const Case c = next_case_ < seeds.size() ? seeds[next_case_] : source_.draw(next_case_ - seeds.size());
    ++next_case_;
    if (const auto broken = violations(subject_.contract, c); novelty_.is_worth_running(c, broken)) run_case(c, broken);
    if (!pending_.empty() && gaps_may_have_time()) investigate_next_gap();
    if (Clock::now() - last_save_ >= kSaveEvery) save();
    progress("fuzzing");
  }
  while (!pending_.empty() && may_finish_gaps()) investigate_next_gap();
  result_.gaps_waiting = pending_.size() + unfinished_.size();
  for (auto& [key, finding] : std::exchange(waiting_, {})) {
    result_.set_aside.erase(key);
    report(std::move(finding), key, 0);
  }
  result_.interrupted = stopped();
  result_.statistics.passed_over = novelty_.passed_over();
  result_.statistics.elapsed_us = microseconds_since(begin_);
  save();
  std::stable_sort(result_.findings.begin(), result_.findings.end(), [](const auto& a, const auto& b) {
    return finding_rank(a.finding.verdict) < finding_rank(b.finding.verdict);
  });
  return std::move(result_);
}

void Campaign::run_case(const Case& c, const std::vector<Violation>& broken) {
  const CaseResult result = executor_.run(c);
  if (result.fresh_child) in_this_process_.clear();
  const std::vector<Verdict> verdicts = judge_result(triage_, c, result);
  result_.statistics.add(result, verdicts);
  result_.coverage.add(c, broken);
  ++result_.ledger.cases;
  bool investigated = false, news = false;
  for (const Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::kFail) continue;
    const std::string key = finding_key(verdict);
    if (const auto known = result_.ledger.known.find(key); known != result_.ledger.known.end()) {
      ++known->second.duplicates;
      continue;
    }
    if (const auto flaky = result_.set_aside.find(key);
        flaky != result_.set_aside.end() && flaky->second >= kFlakyTries) {
      ++flaky->second;
      continue;
    }
    if (const auto pending = pending_.find(key); pending != pending_.end()) {
      ++pending->second.duplicates;
      continue;
    }
    news = true;
    Suspicion suspicion{c, verdict, {in_this_process_.begin(), in_this_process_.end()}, 0};
    if (!verdict.fault && !gaps_may_have_time()) {
      pending_.emplace(key, std::move(suspicion));
      save();
      continue;
    }
    triage(suspicion);
    investigated = true;
  }
  novelty_.ran(c, broken, news);
  // After replays the process is another one.
  if (investigated)
    in_this_process_.clear();
  else
    in_this_process_.push_back(c);
  if (in_this_process_.size() > kEarlierMax) in_this_process_.pop_front();
}

void Campaign::run_pending_of_earlier_run() {
  // Each stays in the ledger until it has run, so that a kill in between loses none.
  unfinished_ = std::exchange(result_.ledger.pending, {});
  while (!unfinished_.empty()) {
    const std::string text = unfinished_.front();
    if (const auto c = parse_case(text)) run_case(*c, violations(subject_.contract, *c));
    unfinished_.erase(unfinished_.begin());
  }
}

bool Campaign::gaps_may_have_time() const { return gap_us_ <= kGapShare * microseconds_since(begin_); }

void Campaign::investigate_next_gap() {
  const auto next = std::min_element(pending_.begin(), pending_.end(), [](const auto& a, const auto& b) {
    return finding_rank(a.second.verdict) < finding_rank(b.second.verdict);
  });
  const Suspicion suspicion = std::move(next->second);
  pending_.erase(next);
  triage(suspicion);
  in_this_process_.clear();
}

void Campaign::triage(const Suspicion& suspicion) {
  const auto begin = Clock::now();
  const std::string key = finding_key(suspicion.verdict);
  executor_.set_careful(true);
  Finding finding = investigate(suspicion, key);
  executor_.set_careful(false);
  result_.statistics.reduction_runs += static_cast<uint64_t>(finding.reduction_runs);
  int& aside = result_.set_aside[key];
  // One that needs its predecessors is a poor reproducer: a later case may show the same alone.
  const bool waits = finding.reproduced > 0 && !finding.before.empty() && aside + 1 < kFlakyTries;
  if (finding.reproduced == 0 || waits) {
    ++aside;
    if (waits) waiting_.insert_or_assign(key, std::move(finding));
  } else {
    result_.set_aside.erase(key);
    waiting_.erase(key);
    report(std::move(finding), key, suspicion.duplicates);
  }
  const double us = microseconds_since(begin);
  result_.statistics.reduction_us += us;
  if (!suspicion.verdict.fault) gap_us_ += us;
}

Finding Campaign::investigate(const Suspicion& suspicion, const std::string& key) {
  progress("confirming");
  const bool hang = suspicion.verdict.cls == VerdictClass::kHang;
  const int replays = hang ? kHangReplays : options_.confirm_runs;
  executor_.set_patience(hang ? kHangPatience : 1);
  // Two are enough to go on with; the whole count is for what gets reported.
  Confirmation first = confirm(triage_, executor_, suspicion.input, key, {}, kFirstReplays);
  if (first.reproduced < first.tries)
    first = confirm(triage_, executor_, suspicion.input, key, suspicion.earlier, replays);
  executor_.set_patience(1);

  Finding finding;
  finding.package = subject_.package;
  finding.model = subject_.model;
  finding.environment = subject_.environment;
  finding.original = finding.minimal = suspicion.input;
  finding.verdict = first.verdict ? *first.verdict : suspicion.verdict;
  finding.before = first.before;
  finding.reproduced = first.reproduced;
  finding.tries = first.tries;
  // With earlier cases in play the fault belongs to one of those; shrinking the victim would only mislead.
  if (first.reproduced == 0 || !first.before.empty() || stopped()) return finding;
  return reduced(suspicion, key, std::move(finding), first.reproduced == first.tries, replays);
}

Finding Campaign::reduced(const Suspicion& suspicion, const std::string& key, Finding finding, bool each_time,
                          int replays) {
  progress("reducing");
  const ReducerOptions reducing{options_.reduce_runs, reduce_time(suspicion.verdict), each_time ? 1 : kFlakyAttempts};
  const auto stop = [this] {
    progress("reducing");
    return stopped();
  };
  auto reduced = reduce_confirmed(triage_, executor_, suspicion.input, finding.verdict, reducing, replays, stop);
  if (!reduced) {
    const Confirmation whole = confirm(triage_, executor_, suspicion.input, key, {}, replays);
    finding.reproduced = whole.reproduced;
    finding.tries = whole.tries;
    return finding;
  }
  finding.reduction_runs = reduced->runs;
  finding.minimal = std::move(reduced->reduction.minimal);
  finding.verdict = std::move(*reduced->confirmation.verdict);
  finding.one_minimal = reduced->reduction.one_minimal;
  finding.certificate = std::move(reduced->reduction.certificate);
  finding.reproduced = reduced->confirmation.reproduced;
  finding.tries = reduced->confirmation.tries;
  return finding;
}

/// Gaps that waited are finished after the time is up, for as long again as a user would call on time. The rest stays
/// in the ledger.
bool Campaign::may_finish_gaps() const {
  if (stopped()) return false;
  return !options_.time ||
         Clock::now() - begin_ < *options_.time + std::max<Clock::duration>(*options_.time / 4, kFinishMin);
}

bool Campaign::out_of_time() const { return options_.time && Clock::now() - begin_ >= *options_.time; }

std::chrono::milliseconds Campaign::reduce_time(const Verdict& verdict) const {
  if (verdict.fault || !options_.time) return options_.reduce_time;
  // What is left at the end of a short campaign is shrunk as far as a moment allows; `minimize` goes on from there.
  const auto share =
      out_of_time() ? kGapReduceTimeMin : std::max<std::chrono::milliseconds>(*options_.time / 10, kGapReduceTimeMin);
  return std::min<std::chrono::milliseconds>(share, options_.reduce_time);
}

/// Which buffer, where the verdict cannot know it, and who else would notice.
std::optional<SanitizeResult> Campaign::explain_memory_fault(Finding* finding) {
  if (finding->verdict.cls != VerdictClass::kMemoryFault || !finding->before.empty()) return std::nullopt;
  auto& measures = finding->verdict.measures;
  // Among several modes the guard's own has a name too.
  if (subject_.others.size() > 1) measures.emplace_back("mode guard", finding->verdict.signature);
  for (const OtherAllocator& other : subject_.others)
    measures.emplace_back(other.name, shows_without_guard(triage_, *other.executor, finding->minimal));
  if (!subject_.sanitize) return std::nullopt;
  const auto not_run = [&](const std::string& why) {
    measures.emplace_back("compute-sanitizer", "not run: " + why);
    ++result_.statistics.sanitizer["not run: " + why];
    return std::nullopt;
  };
  if (stopped()) return not_run("the campaign was stopped");
  progress("under compute-sanitizer");
  try {
    SanitizeResult sanitized = subject_.sanitize(finding->minimal);
    if (sanitized.fault && triage_.package && triage_.package->kernels)
      sanitized.fault->value = touched_value(*triage_.package->kernels, *sanitized.fault);
    merge_measures(&measures, sanitizer_measures(sanitized.log, sanitized.fault));
    if (sanitized.fault) finding->verdict.reason = located_reason(finding->verdict.reason, *sanitized.fault);
    ++result_.statistics.sanitizer[sanitized.fault ? "named the buffer" : "named no buffer"];
    return sanitized;
  } catch (const HarnessError& error) {
    const std::string why = error.what();
    return not_run(why.substr(0, why.find('\n')));
  }
}

/// What the package knows of the kernel that the verdict names.
void Campaign::add_kernel_detail(Finding* finding, FindingContext* context) const {
  if (!triage_.package) return;
  Measures& measures = finding->verdict.measures;
  merge_measures(&measures, kernel_measures(*triage_.package, finding->minimal, measures));
  const std::optional<KernelSource> source = kernel_source(*triage_.package, named_kernel(measures));
  if (!source) return;
  context->kernel_where = source->where;
  context->kernel_text = source->text;
}

void Campaign::report(Finding finding, const std::string& key, uint64_t duplicates) {
  const std::optional<SanitizeResult> sanitized = explain_memory_fault(&finding);
  // The package is part of the name: two builds in one folder may share a finding.
  const std::string slug = finding_slug(finding.verdict, key + subject_.context.package_hash);
  FindingContext context = subject_.context;
  add_kernel_detail(&finding, &context);
  context.inputs_python = python_inputs(finding.minimal);
  for (const Case& before : finding.before) context.before_python.push_back(python_inputs(before));
  const std::string folder = options_.out + "/findings/" + slug;
  write_finding_folder(folder, finding, context);
  if (sanitized) add_to_finding(folder, "memcheck", *sanitized);
  // The finding first, the ledger second: killed in between, the worst is that it is found again.
  result_.ledger.known[key] = {slug, finding.verdict.fault, duplicates};
  result_.findings.push_back({std::move(finding), key, folder});
  save();
  listener_.on_finding(result_.findings.back().finding, folder);
}

void Campaign::save() {
  result_.ledger.next_case[std::to_string(options_.seed)] = next_case_;
  result_.ledger.pending = unfinished_;
  for (const auto& [key, suspicion] : pending_) result_.ledger.pending.push_back(print_case(suspicion.input));
  ledger_.packages[subject_.context.package_hash] = result_.ledger;
  write_file_whole(options_.out + "/state.json", print_ledger(ledger_));
  last_save_ = Clock::now();
}

void Campaign::progress(const char* activity) {
  result_.statistics.elapsed_us = microseconds_since(begin_);
  listener_.on_progress({result_.statistics, result_.known_faults(), result_.known_gaps(), activity});
}

}  // namespace aotifuzz
