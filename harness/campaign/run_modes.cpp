#include "campaign/run_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "campaign/triage.h"
#include "core/outcome.h"

namespace aotifuzz {
namespace {

/// The package runs twice with the guard: a second time with the other end of each tensor against the guard.
constexpr int kGuardedRuns = 2;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string outcome_text(const Outcome& outcome, double us) {
  switch (outcome.kind) {
    case OutcomeKind::kFinished:
      return fmt::format("finished in {:.3g} ms", us / 1000);
    case OutcomeKind::kRejected:
      return "refused: " + first_line(outcome.message);
    default:
      return std::string(outcome_kind_name(outcome.kind)) +
             (outcome.message.empty() ? "" : ": " + first_line(outcome.message));
  }
}

/// How a process that died is spoken of: by the verdict on it.
std::string death_text(const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts)
    if (verdict.status == VerdictStatus::kFail)
      return std::string(verdict.cls ? verdict_class_name(*verdict.cls) : "") + ": " + verdict.signature;
  return verdicts.empty() ? "no result" : verdicts.front().reason;
}

/// What the runs of the first pass are called. On a device the second run is a repetition, and the start of each tensor
/// is probed after it.
std::string name_of(const std::string& run, int again, bool on_device) {
  if (run == "reference") return "reference";
  if (run == "subject") return on_device ? "guard" : "guard, end";
  if (run == "subject-again" && again == 0) return on_device ? "guard, again" : "guard, start";
  if (run == "subject-kernels") return "kernel by kernel";
  return "";
}

std::string name_of(Stage stage, bool on_device) {
  switch (stage) {
    case Stage::kReference:
      return "reference";
    case Stage::kSubject:
      return on_device ? "guard" : "guard, end";
    case Stage::kSubjectAgain:
      return on_device ? "guard, again" : "guard, start";
    case Stage::kReferee:
    case Stage::kJudge:
      return "judging";
    default:
      return "inputs";
  }
}

void merge(std::vector<Verdict> found, bool first, std::vector<Verdict>* all) {
  for (Verdict& verdict : found) {
    if (verdict.status == VerdictStatus::kFail ? !find_failed(*all, finding_key(verdict)) : first)
      all->push_back(std::move(verdict));
  }
}

std::string kernels_text(PackageSession& session) {
  for (const std::string& missing : session.not_judged())
    if (missing.starts_with("kernels: no")) return "not judged: " + missing.substr(missing.find(' ') + 1);
  return session.has_reference() ? "not judged" : "not judged: no reference";
}

}  // namespace

ModesResult run_in_every_mode(PackageSession& session, const Case& c) {
  ModesResult out;
  const TriageContext triage = session.triage();
  const bool on_device = !session.arguments().device.empty();

  Case guarded = c;
  guarded.input_checks = false;
  guarded.runs = kGuardedRuns;
  session.worker().renew();
  const CaseResult result = session.worker().run(guarded);
  std::vector<Verdict> verdicts = judge_result(triage, guarded, result);
  bool kernels_seen = false;
  if (result.report) {
    int again = 0;
    for (const RunSummary& run : result.report->runs) {
      const std::string name = name_of(run.run, run.run == "subject-again" ? again++ : 0, on_device);
      if (name.empty() && (run.outcome.kind == OutcomeKind::kFinished || run.run.starts_with("reference"))) continue;
      kernels_seen |= run.run == "subject-kernels";
      out.modes.push_back({name.empty() ? run.run : name, outcome_text(run.outcome, run.us)});
    }
  } else if (result.death) {
    if (result.death->reference_done)
      out.modes.push_back({"reference", result.death->reference_accepts ? "finished" : "refused"});
    out.modes.push_back({name_of(result.death->stage, on_device), death_text(verdicts)});
  }
  if (!kernels_seen)
    out.modes.push_back({"kernel by kernel", result.report ? kernels_text(session) : "not reached: the process died"});
  merge(std::move(verdicts), /*first=*/true, &out.verdicts);

  const auto once_more = [&](const std::string& name, CaseExecutor& executor, bool checks) {
    Case again = c;
    again.input_checks = checks;
    again.runs = 1;
    executor.renew();
    const CaseResult ended = executor.run(again);
    std::vector<Verdict> found = judge_result(triage, again, ended);
    std::string text = death_text(found);
    if (ended.report)
      for (const RunSummary& run : ended.report->runs)
        if (run.run == "subject") text = outcome_text(run.outcome, run.us);
    out.modes.push_back({name, std::move(text)});
    merge(std::move(found), /*first=*/false, &out.verdicts);
  };
  once_more("input checks on", session.worker(), true);
  for (const OtherAllocator& other : session.other_allocators()) once_more(other.name, *other.executor, false);
  return out;
}

std::string print_modes(const std::vector<RunMode>& modes) {
  std::string out;
  for (const RunMode& mode : modes) out += fmt::format("{:<20} {}\n", mode.name, mode.text);
  return out;
}

}  // namespace aotifuzz
