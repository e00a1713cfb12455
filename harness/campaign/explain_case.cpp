#include "campaign/explain_case.h"

#include <algorithm>

#include "campaign/confirmed_reduction.h"
#include "campaign/same_refusal.h"
#include "campaign/trace_report.h"
#include "package/kernel_detail.h"
#include "package/kernel_flow.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

std::string measure(const Verdict& verdict, std::string_view name) {
  for (const auto& [key, value] : verdict.measures)
    if (key == name) return value;
  return {};
}

const RunSummary* run_named(const CaseReport& report, std::string_view name) {
  for (const RunSummary& run : report.runs)
    if (run.run == name) return &run;
  return nullptr;
}

/// What can be done about a verdict of that class.
std::string change_for(const Verdict& verdict, const std::vector<Violation>& broken) {
  if (!broken.empty())
    return "nothing refuses inputs that break `" + broken.front().text +
           "`: check it before the call, or make the model refuse them (torch._check) and compile again";
  switch (verdict.cls.value_or(VerdictClass::kWrongResult)) {
    case VerdictClass::kMissesError:
      return "check in the model what eager checks (torch._check on sizes, clamp or compare indices)";
    case VerdictClass::kRejectsLegal:
      return "the compiled check refuses what the declaration allows: run with AOTI_RUNTIME_CHECK_INPUTS unset, or "
             "declare a narrower range";
    case VerdictClass::kHang:
      return "bound the loop in the model";
    default:
      return "the package is at fault, not the caller: report it with the case (`aotifuzz fuzz` writes report.md), and "
             "try another torch (`aotifuzz replay CASE --torch ...`) or the operation in another form";
  }
}

class Guide {
 public:
  Guide(PackageSession& session, const CorpusEntry& entry, const ExplainCaseOptions& options, ExplainReport* report)
      : session_(session), entry_(entry), options_(options), report_(*report), triage_(session.triage()) {}

  void walk() {
    broken_ = violations(session_.contract(), entry_.input);
    std::string contract = broken_.empty() ? "allows this input" : "";
    for (const Violation& one : broken_)
      contract += (contract.empty() ? "" : "; ") + one.text + " (" + one.detail + ")";
    step("contract", broken_.empty() ? contract : "does not allow it: " + contract);
    guarded();
    checks_on();
    other_allocators();
    suspect();
    nan();
    smallest();
    conclude();
  }

 private:
  void step(std::string name, std::string result, bool done = true) {
    report_.steps.push_back({std::move(name), std::move(result), done});
  }

  CaseResult run(const Case& c) {
    session_.worker().renew();
    for (const Case& before : entry_.before) session_.worker().run(before);
    return session_.worker().run(c);
  }

  /// Errors that the run tells and the log did not.
  void recognise(const std::string& words) {
    for (const RecognisedError& error : recognise_errors(words)) {
      const auto same = std::find_if(report_.found.begin(), report_.found.end(),
                                     [&](const Explanation& one) { return one.pattern == error.pattern->id; });
      if (same != report_.found.end()) continue;
      Explanation one = explain_error(error, options_.paths);
      one.line = 0;
      add_package_facts(session_.info(), error, &one);
      report_.found.push_back(std::move(one));
    }
  }

  void guarded() {
    const CaseResult result = run(entry_.input);
    refusal_ = refusal_of(result);
    const std::vector<Verdict> verdicts = judge_result(triage_, entry_.input, result);
    for (const Verdict& verdict : verdicts)
      if (verdict.status == VerdictStatus::kFail && (!verdict_ || finding_rank(verdict) < finding_rank(*verdict_)))
        verdict_ = verdict;
    std::string words = refusal_;
    if (result.report) {
      if (const RunSummary* reference = run_named(*result.report, "reference")) {
        reference_ = reference->outcome.kind == OutcomeKind::kFinished
                         ? "accepts it"
                         : std::string(outcome_kind_name(reference->outcome.kind)) + ": " + reference->outcome.message;
        reference_accepts_ = result.report->reference_accepts;
      }
      finished_ = refusal_.empty();
    } else if (result.death) {
      reference_accepts_ = result.death->reference_accepts;
      if (triage_.has_reference) reference_ = reference_accepts_ ? "accepts it" : "raises or dies too";
      words = result.death->last_words;
      if (result.death->kind == WorkerDeath::Kind::kSignal) words += "\n" + signal_name(result.death->signal);
      if (result.death->kind == WorkerDeath::Kind::kHang) words += "\ndoes not end within the limit";
      words += "\n" + result.death->device_error;
    }
    step("reference", triage_.has_reference ? reference_ : "there is none: nobody knows whether the input is legal",
         triage_.has_reference);
    std::string how;
    if (verdict_)
      how = finding_key(*verdict_) + ": " + verdict_->reason;
    else if (!refusal_.empty())
      how = "the package refuses: " + refusal_;
    else
      how = "finishes, and nothing is wrong with what it returns";
    for (const Verdict& verdict : verdicts)
      if (!verdict_ && finished_ && verdict.status == VerdictStatus::kSkip && verdict.oracle == "close")
        how = "finishes; its results were not judged: " + verdict.reason;
    step("guarded memory, input checks off", how);
    recognise(words);
  }

  void checks_on() {
    Case c = entry_.input;
    c.input_checks = true;
    const CaseResult result = run(c);
    checked_ = refusal_of(result);
    std::string how = result.death ? "ends its process as without them" : "accept it";
    if (!checked_.empty()) how = "refuse it: " + checked_;
    step("input checks on (AOTI_RUNTIME_CHECK_INPUTS=1)", how);
    recognise(checked_);
  }

  void other_allocators() {
    if (session_.arguments().device.empty()) {
      step("launches waited for, no cache", "the package runs on the CPU", false);
      return;
    }
    for (const OtherAllocator& other : session_.other_allocators())
      step(other.name, shows_without_guard(triage_, *other.executor, entry_.input));
  }

  /// The kernel that the verdict names, and what it was made from.
  void suspect() {
    if (!verdict_) return;
    const std::string kernel = named_kernel(verdict_->measures);
    if (kernel.empty()) {
      step("suspect",
           "no kernel is named" + std::string(session_.info().kernels
                                                  ? ""
                                                  : ": the package has no kernel map (compile it with aotifuzz_pack)"),
           false);
      return;
    }
    culprit_ = kernel;
    step("suspect",
         kernel +
             (measure(*verdict_, "local error").empty() ? "" : ", local error " + measure(*verdict_, "local error")));
    if (const std::string line = measure(*verdict_, "generated line"); !line.empty()) step("generated line", line);
    for (const auto& [name, value] : kernel_measures(session_.info(), entry_.input, verdict_->measures))
      step(name, value);
    const KernelFlow flow(session_.info(), kernel_texts(session_.info()));
    const std::optional<size_t> call = flow.find(kernel);
    if (!call) return;
    for (const FlowCall::Argument& argument : flow.calls()[*call].arguments)
      for (const std::string& way : flow.upstream(*call, argument.formal))
        if (argument.read && !argument.formal.empty()) step("upstream of " + argument.formal, way);
  }

  void nan() {
    const bool asked = std::any_of(report_.found.begin(), report_.found.end(),
                                   [](const Explanation& one) { return one.pattern == "nan"; });
    if (!asked) return;
    WorkerOptions options;
    options.program = session_.worker_program();
    options.arguments = session_.arguments();
    options.arguments.trace = TraceLevel::kStats;
    WorkerProcess worker(options);
    const CaseResult result = worker.run(entry_.input);
    if (!result.report) {
      step("first NaN", "the traced run ended its process", false);
      return;
    }
    nan_ = first_nan(result.report->trace);
    step("first NaN", nan_);
  }

  void smallest() {
    if (options_.reduce_runs <= 0 || !entry_.before.empty()) return;
    if (!verdict_ && refusal_.empty()) return;
    ReducerOptions limits;
    limits.runs_max = options_.reduce_runs;
    SameRefusal refusing(session_.worker(), refusal_);
    Verdict wanted;
    if (verdict_) {
      wanted = *verdict_;
    } else {
      session_.worker().renew();
      const CaseResult again = refusing.run(entry_.input);
      const std::vector<Verdict> verdicts = judge_result(triage_, entry_.input, again);
      const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                      [](const Verdict& verdict) { return verdict.oracle == "explain"; });
      if (found == verdicts.end()) {
        step("smallest input", "the refusal did not come again", false);
        return;
      }
      wanted = *found;
    }
    CaseExecutor& executor = verdict_ ? static_cast<CaseExecutor&>(session_.worker()) : refusing;
    const auto reduced = reduce_confirmed(triage_, executor, entry_.input, wanted, limits, 3);
    if (!reduced) {
      step("smallest input", "nothing smaller holds in a fresh process", false);
      return;
    }
    report_.minimal_case = print_case(reduced->reduction.minimal);
    std::string how = std::to_string(reduced->runs) + " runs" + (reduced->reduction.one_minimal ? ", 1-minimal" : "");
    for (const std::string& line : reduced->reduction.certificate) how += "; " + line;
    step("smallest input", how);
  }

  void conclude() {
    std::vector<std::string>& out = report_.conclusion;
    const Explanation* index = nullptr;
    for (const Explanation& one : report_.found)
      if (one.pattern == "index-out-of-bounds") index = &one;
    if (verdict_) {
      report_.fault = verdict_->fault;
      out.push_back(std::string(verdict_->fault ? "fault: " : "gap: ") + verdict_->reason);
      if (!culprit_.empty()) out.push_back("culprit: kernel " + culprit_);
      out.push_back("to change: " + change_for(*verdict_, broken_));
    } else if (!refusal_.empty() && triage_.has_reference && !reference_accepts_) {
      out.push_back("the input is at fault: the package refuses it (" + refusal_ + "), and the reference does too (" +
                    reference_ + ")");
    } else if (!refusal_.empty()) {
      out.push_back("the package refuses the input: " + refusal_);
    } else if (!checked_.empty()) {
      out.push_back(broken_.empty()
                        ? "the package is right on this input; its input checks alone refuse it: " + checked_
                        : "the caller is at fault: the input breaks " + broken_.front().text +
                              ", and the checks say so");
    } else if (!nan_.empty()) {
      out.push_back(nan_);
    } else {
      out.push_back(
          "nothing goes wrong on this input with this package here: the error needs another input, machine or package");
    }
    if (index && !refusal_.empty()) {
      out.push_back("culprit: " + index->culprit);
      out.push_back("to change: " + index->change);
    }
    for (const std::string& hazard : package_hazards(session_.info()))
      if (verdict_ || !refusal_.empty()) report_.notes.push_back(hazard);
  }

  PackageSession& session_;
  const CorpusEntry& entry_;
  const ExplainCaseOptions& options_;
  ExplainReport& report_;
  const TriageContext triage_;
  std::vector<Violation> broken_;
  std::optional<Verdict> verdict_;
  std::string refusal_, checked_, reference_, culprit_, nan_;
  bool reference_accepts_ = false, finished_ = false;
};

}  // namespace

void explain_case(PackageSession& session, const CorpusEntry& entry, const ExplainCaseOptions& options,
                  ExplainReport* report) {
  Guide(session, entry, options, report).walk();
}

}  // namespace aotifuzz
