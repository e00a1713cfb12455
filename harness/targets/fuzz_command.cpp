#include "targets/fuzz_command.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>

#include "campaign/campaign.h"
#include "campaign/ci_items.h"
#include "campaign/console.h"
#include "campaign/package_session.h"
#include "campaign/report_file.h"
#include "campaign/summary.h"
#include "campaign/triage.h"
#include "package/assumed_sizes.h"
#include "package/contract_bounds.h"
#include "store/corpus_folder.h"
#include "targets/command_options.h"
#include "targets/generated_cases.h"
#include "targets/package_options.h"
#include "targets/say.h"

namespace aotifuzz {
namespace {

// Larger inputs in proposed sizes cost memory and time without reaching other code; the generators' own tail goes
// further.
constexpr int64_t kElementsMax = 1 << 20;

/// Of each case of a known issue: those that come now and then count as failing when one of these does.
constexpr int kKnownRuns = 5;

/// One case under compute-sanitizer, its worker's start apart: what takes longer is not worth it.
constexpr std::chrono::minutes kSanitizeTimeout{2};

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

void request_stop(int signal) {
  // The second Ctrl-C ends at once, should the first one not be enough.
  if (stop_requested.exchange(true)) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

/// The cases that the user gives, which are for this package.
std::vector<Case> given_cases(const std::vector<std::string>& paths, const PackageSession& session) {
  std::vector<Case> out;
  for (const std::string& path : paths)
    for (const std::string& file : find_cases(path)) {
      out.push_back(read_entry(file).input);
      session.require_fitting(out.back(), file);
    }
  return out;
}

void count_workers(const WorkerProcess& worker, SummaryContext* context) {
  context->worker_starts += worker.counters().starts;
  context->worker_children += worker.counters().children;
  context->recovery_us_max = std::max(context->recovery_us_max, worker.counters().recovery_us_max);
}

}  // namespace

void FuzzCommand::declare(CLI::App& app) {
  app.add_option("PACKAGE", package_, "The .pt2 to fuzz")->required();
  budget_.declare(app);
  app.add_option("--cases", cases_, "How many cases")->check(CLI::Range(1.0, 1e15));
  app.add_option("--seed", seed_, "Same seed and package: same cases, byte for byte")
      ->check(CLI::Range(0.0, 9e18))
      ->capture_default_str();
  app.add_option("--jobs", jobs_,
                 "Jobs side by side, each with a worker and a seed of its own: SEED, SEED+1, ... One for each core is "
                 "a good number")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--out", out_,
                 "Folder for findings and state; a later run with it goes on (default: aotifuzz-out/<package>)")
      ->check(not_empty());
  app.add_option("--reference", reference_, "Archive with the ExportedProgram, where the package has none");
  app.add_option("--ops", ops_, "Library of custom ops to load (repeatable)")->allow_extra_args(false);
  app.add_option("--model", model_, "Model of the archive, where it holds several");
  app.add_option("--generator", generator_, "Which generator draws the cases")->capture_default_str();
  app.add_flag("--swarm,!--no-swarm", swarm_,
               "Jobs after the first leave out some generators and favour others, as their seed says (default; "
               "--no-swarm: all draw alike)");
  app.add_option("--start-with", start_with_,
                 "Case, finding folder, or a folder tree of those, to run before anything is drawn (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--device", device_, "Where to run: cuda:N (default: the package's device, its first GPU)");
  declare_torch(app, &torch_);
  app.add_option("--timeout", timeout_, "Time limit of one case")->capture_default_str();
  app.add_option("--memory-mib", memory_mib_,
                 "Memory that cases may take beyond the loaded package, in MiB; 0 = no limit")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--reduce-runs", reduce_runs_, "Most runs for shrinking one finding; 0 = do not shrink")
      ->capture_default_str();
  app.add_option(
         "--per-kernel", kernels_every_,
         "Judge every kernel in one case of so many; 0 = only where a wrong output must be explained. Needs the "
         "kernel map of aotifuzz_pack")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--fail-on", fail_on_, "faults, or gaps to exit 1 on gaps too (default: faults)");
  app.add_flag("--no-sanitize", no_sanitize_,
               "Do not run memory faults of a device under compute-sanitizer, which names buffer and thread");
  app.add_flag("--quiet", quiet_, "Print the summary only");
  CLI::Option* json = app.add_flag("--json", json_, "Summary as JSON on stdout");
  app.add_flag("--json-lines", json_lines_,
               "On stdout one JSON object a line: a status each second, each finding, at last the summary")
      ->excludes(json);
  engine_.declare(app);
  ci_.declare(app);
  excuses_.declare(app, /*with_baseline=*/true);
}

int FuzzCommand::run() {
  CampaignOptions options;
  options.cases = cases_;
  options.seed = seed_;
  options.reduce_runs = reduce_runs_;
  options.fail_on_gaps = fail_on_gaps_option(fail_on_);
  options.out = out_.empty() ? "aotifuzz-out/" + std::filesystem::path(package_).stem().string() : out_;
  if (reduce_runs_ < 0)
    throw UsageError("not a number of runs", "--reduce-runs " + std::to_string(reduce_runs_), "give 0 or more");

  if (budget_.for_pull_request()) quiet_ = true, ci_.annotate_on_github();
  if (engine_.asks_for_help()) engine_.show_help();
  engine_.check();
  budget_.time_for_cases();

  std::vector<std::string> kept = ops_;
  kept.insert(kept.end(), {package_, reference_, excuses_.known});
  kept.insert(kept.end(), start_with_.begin(), start_with_.end());
  for (const char* name : {"state.json", "statistics.json", "report.html"}) kept.push_back(options.out + "/" + name);
  ci_.check(kept);
  const Excuses excuses(excuses_.known, excuses_.baseline);
  if (const std::string others = excuses.other_packages(std::filesystem::path(package_).stem().string());
      !others.empty())
    say("warning: the baseline {} is of {}: what another model got wrong excuses this one where signatures are alike\n",
        excuses_.baseline, others);
  if (!excuses.none())
    options.excuse = [&excuses](const Verdict& verdict, const Case& minimal) { return excuses.of(verdict, minimal); };

  SessionRequest request;
  request.package = {package_, model_, reference_};
  request.ops = ops_;
  request.timeout = duration_option("--timeout", timeout_);
  request.memory_mib = memory_mib_;
  request.device = device_;
  request.torch = torch_;
  request.kernels_every = kernels_every_;
  PackageSession session(std::move(request));
  say_if(session.torch_note());
  const ContractBounds bounds = compute_bounds(session.contract(), kElementsMax, assumption_targets(session.info()));
  const WorkerHello hello = session.hello();

  SummaryContext context;
  CampaignSubject subject{session.contract(),
                          session.has_reference(),
                          std::filesystem::absolute(package_).lexically_normal().string(),
                          model_,
                          session.environment(),
                          session.finding_context(),
                          {}};
  for (const ContractBounds::SymbolBounds& symbol : bounds.symbols)
    if (!symbol.dim.empty()) subject.landmarks[symbol.dim] = symbol.landmarks;
  subject.info = &session.info();
  subject.environment["aotifuzz"] = subject.aotifuzz_version = AOTIFUZZ_VERSION;
  subject.oracles = hello.oracles;
  subject.not_judged = session.not_judged();
  subject.not_judged.insert(subject.not_judged.end(), bounds.notes.begin(), bounds.notes.end());
  subject.others = session.other_allocators();
  // Of memory on the CPU the guard itself says what was touched.
  if (WorkerArguments arguments = session.arguments(); !arguments.device.empty() && !no_sanitize_)
    subject.sanitize = [arguments = std::move(arguments), program = session.worker_program()](const Case& c) {
      return sanitize(
          {.program = program, .arguments = arguments, .before = {}, .input = c, .timeout = kSanitizeTimeout});
    };
  context.package = package_;
  context.out = options.out;
  context.oracles = subject.oracles;
  context.not_judged = subject.not_judged;
  struct sigaction action {};
  action.sa_handler = request_stop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // A terminal that was closed; nohup has said already that it does not matter.
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);

  if (!quiet_ && !json_lines_)
    say("{}: torch {}, seed {}, findings go to {}\n", package_, hello.torch_version, seed_, options.out);
  Console console(json_lines_ ? Console::Style::kJsonLines : quiet_ ? Console::Style::kQuiet : Console::Style::kPeople);
  const std::vector<Case> first = given_cases(start_with_, session);
  std::vector<std::unique_ptr<GeneratedCases>> sources;
  std::vector<std::unique_ptr<EngineProcess>> engines;
  std::vector<std::unique_ptr<WorkerProcess>> workers;  // of the second job and those after it
  std::vector<CampaignJobParts> jobs;
  for (int job = 0; job < jobs_; ++job) {
    sources.push_back(std::make_unique<GeneratedCases>(session.contract(), bounds, generator_,
                                                       seed_ + static_cast<uint64_t>(job), swarm_ && job > 0));
    sources.back()->start_with(first);
    if (job > 0) workers.push_back(session.another_worker());
    jobs.push_back({job > 0 ? *workers.back() : session.worker(), *sources.back()});
    if (!engine_.guided()) continue;
    engines.push_back(engine_.start(options.out, subject.context.package_hash, seed_ + static_cast<uint64_t>(job)));
    jobs.back().engine = engines.back().get();
  }
  // What the start took is gone from a budget.
  options.time = budget_.time_for_cases();
  budget_.watch(&stop_requested);
  Campaign campaign(std::move(subject), options, std::move(jobs), console);
  const CampaignResult result = campaign.run(stop_requested);
  console.clear();

  context.report = write_report_file(options.out);
  count_workers(session.worker(), &context);
  for (const auto& worker : workers) count_workers(*worker, &context);
  context.fail_on_gaps = options.fail_on_gaps;
  context.strict_known = excuses_.strict;
  // Whoever stops a campaign does not want to wait.
  context.known_cases = result.interrupted ? untried_cases(excuses.issues(), "the campaign was stopped")
                                           : check_known_cases(excuses.issues(), session, kKnownRuns);
  fmt::print("{}",
             json_ || json_lines_ ? print_summary_json(result, context, json_lines_) : print_summary(result, context));
  if (ci_.any()) write_ci(result, context, options.out);
  return context.exit_code(result);
}

void FuzzCommand::write_ci(const CampaignResult& result, const SummaryContext& context, const std::string& out) const {
  CiReport report;
  report.items.push_back(campaign_item(result, package_));
  std::vector<FindingRecord> findings = read_findings(out);
  // GitHub shows the first ten of each level.
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return finding_rank(a.verdict) < finding_rank(b.verdict); });
  for (const FindingRecord& finding : findings) {
    const std::string key = finding_key(finding.verdict);
    const auto known = result.ledger.known.find(key);
    // Other packages in the folder have slugs of their own.
    if (known == result.ledger.known.end() || known->second.slug != finding.slug) continue;
    report.items.push_back(finding_item(finding, package_, context.fail_on_gaps));
    if (const auto excuse = result.excuses.find(key); excuse != result.excuses.end())
      report.items.back().excuse = excuse->second;
  }
  for (const KnownCase& known : context.known_cases)
    report.items.push_back(known_case_item(known, package_, context.strict_known));
  ci_.write(std::move(report), json_ || json_lines_);
}

}  // namespace aotifuzz
