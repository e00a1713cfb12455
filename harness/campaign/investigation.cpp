#include "campaign/investigation.h"

#include <utility>

#include "campaign/confirmed_reduction.h"
#include "campaign/failure_region.h"
#include "package/kernel_detail.h"

namespace aotifuzz {
namespace {

// Runs of one candidate when the failure does not come each time.
constexpr int kFlakyAttempts = 3;
// A hang costs the whole limit each time, so fewer replays, each with more patience.
constexpr int kHangReplays = 2;
constexpr int kFirstReplays = 2;
constexpr double kHangPatience = 3;

TriageContext triage_of(const InvestigationTools& tools) { return tools.subject.triage(); }

Finding reduced(const InvestigationTools& tools, const Suspicion& suspicion, Finding finding, int replays,
                std::chrono::milliseconds reduce_time) {
  tools.progress("reducing");
  const bool each_time = finding.reproduced == finding.tries;
  const ReducerOptions reducing{tools.options.reduce_runs, reduce_time, each_time ? 1 : kFlakyAttempts};
  const auto stop = [&tools] {
    tools.progress("reducing");
    return tools.stopped();
  };
  auto reduced =
      reduce_confirmed(triage_of(tools), tools.executor, suspicion.input, finding.verdict, reducing, replays, stop);
  if (!reduced) {
    const Confirmation whole =
        confirm(triage_of(tools), tools.executor, suspicion.input, finding_key(suspicion.verdict), {}, replays);
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
  // What comes now and then has no region that a few runs could show, and each hang costs the whole limit.
  if (finding.verdict.fault && finding.one_minimal && finding.reproduced == finding.tries &&
      finding.verdict.cls != VerdictClass::kHang) {
    const std::vector<std::string> region =
        explore_region(triage_of(tools), tools.executor, finding.minimal, finding.verdict, {}, stop);
    finding.certificate.insert(finding.certificate.end(), region.begin(), region.end());
  }
  return finding;
}

}  // namespace

Finding investigate(const InvestigationTools& tools, const Suspicion& suspicion,
                    std::chrono::milliseconds reduce_time) {
  tools.progress("confirming");
  const std::string key = finding_key(suspicion.verdict);
  const bool hang = suspicion.verdict.cls == VerdictClass::kHang;
  const int replays = hang ? kHangReplays : tools.options.confirm_runs;
  tools.executor.set_patience(hang ? kHangPatience : 1);
  // Two are enough to go on with; the whole count is for what gets reported.
  Confirmation first = confirm(triage_of(tools), tools.executor, suspicion.input, key, {}, kFirstReplays);
  if (first.reproduced < first.tries)
    first = confirm(triage_of(tools), tools.executor, suspicion.input, key, suspicion.earlier, replays);
  tools.executor.set_patience(1);

  Finding finding;
  finding.package = tools.subject.package;
  finding.model = tools.subject.model;
  finding.environment = tools.subject.environment;
  finding.original = finding.minimal = suspicion.input;
  finding.verdict = first.verdict ? *first.verdict : suspicion.verdict;
  finding.before = first.before;
  finding.after_cases = suspicion.after_cases;
  finding.reproduced = first.reproduced;
  finding.tries = first.tries;
  // With earlier cases in play the fault belongs to one of those; shrinking the victim would only mislead.
  if (first.reproduced == 0 || !first.before.empty() || tools.stopped()) return finding;
  return reduced(tools, suspicion, std::move(finding), replays, reduce_time);
}

ExplainedFinding explain(const InvestigationTools& tools, Finding given) {
  ExplainedFinding out{std::move(given), std::nullopt, ""};
  Finding& finding = out.finding;
  if (finding.verdict.cls != VerdictClass::kMemoryFault || !finding.before.empty()) return out;
  auto& measures = finding.verdict.measures;
  // Among several modes the guard's own has a name too.
  if (tools.subject.others.size() > 1) measures.emplace_back("mode guard", finding.verdict.signature);
  for (const OtherAllocator& other : tools.subject.others)
    measures.emplace_back(other.name, shows_without_guard(triage_of(tools), *other.executor, finding.minimal));
  if (!tools.subject.sanitize) return out;
  const auto not_run = [&](const std::string& why) {
    out.sanitizer = "not run: " + why;
    measures.emplace_back("compute-sanitizer", out.sanitizer);
  };
  if (tools.stopped()) {
    not_run("the campaign was stopped");
    return out;
  }
  tools.progress("under compute-sanitizer");
  try {
    SanitizeResult sanitized = tools.subject.sanitize(finding.minimal);
    const PackageInfo* info = tools.subject.info;
    if (sanitized.fault && info && info->kernels)
      sanitized.fault->value = touched_value(*info->kernels, *sanitized.fault);
    merge_measures(&measures, sanitizer_measures(sanitized.log, sanitized.fault));
    if (sanitized.fault) finding.verdict.reason = located_reason(finding.verdict.reason, *sanitized.fault);
    out.sanitizer = sanitized.fault ? "named the buffer" : "named no buffer";
    out.sanitized = std::move(sanitized);
  } catch (const HarnessError& error) {
    const std::string why = error.what();
    not_run(why.substr(0, why.find('\n')));
  }
  return out;
}

}  // namespace aotifuzz
