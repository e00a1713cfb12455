#include "campaign/explain_case.h"

#include <algorithm>
#include <set>

#include "campaign/confirmed_reduction.h"
#include "campaign/explain_finding.h"
#include "campaign/same_refusal.h"
#include "campaign/trace_report.h"
#include "package/inspect_report.h"
#include "package/kernel_detail.h"
#include "package/kernel_flow.h"
#include "package/trace_context.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

const RunSummary* run_named(const CaseReport& report, std::string_view name) {
  for (const RunSummary& run : report.runs)
    if (run.run == name) return &run;
  return nullptr;
}

/// Rows that name how a process ended, not why.
bool is_ending(std::string_view pattern) {
  for (const char* id : {"segfault", "abort", "heap-damage", "division-by-zero", "hang", "illegal-memory-access",
                         "misaligned-address", "launch-failure", "device-assert", "asynchronous", "wrong-numbers"})
    if (pattern == id) return true;
  return false;
}

/// How packages call operators that have no function of their own in torch's C interface.
constexpr const char* kProxyCall = "aoti_torch_proxy_executor_call_function";

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
    if (options_.trace)
      for (const std::string& guard : broken_guards(*options_.trace, entry_.input))
        step("compile-time trace", "the input breaks " + guard);
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

  static std::string in_step(const WorkerDeath& death) { return death.step.empty() ? "" : " in " + death.step; }

  /// "" when some oracle decided about what the package did.
  static std::string why_not_judged(const std::vector<Verdict>& verdicts) {
    std::string why;
    for (const Verdict& verdict : verdicts) {
      if (verdict.oracle == "close" && verdict.status == VerdictStatus::kPass) return "";
      if (verdict.status == VerdictStatus::kSkip && (why.empty() || verdict.oracle == "close")) why = verdict.reason;
    }
    return why;
  }

  /// Errors that the run tells and the log did not.
  void recognise(const std::string& words) {
    for (const RecognisedError& error : recognise_errors(words)) {
      // That checks assume sizes of 2 and more is no news where something else is wrong.
      if ((verdict_ || !refusal_.empty()) && words == checked_ && error.captures.contains("least")) continue;
      const auto same = std::find_if(report_.found.begin(), report_.found.end(), [&](const Explanation& one) {
        return one.pattern == error.pattern->id &&
               (is_ending(one.pattern) || one.text.find(error.text) != std::string::npos);
      });
      seen_.insert(error.pattern->id);
      if (same != report_.found.end()) continue;
      Explanation one = explain_error(error, options_.paths);
      one.line = 0;
      add_package_facts(session_.info(), error, &one);
      if (options_.trace) add_trace_facts(*options_.trace, session_.info(), error, &one);
      // Without the line that would say so: the inputs keep the contract, so it is not they.
      if (one.pattern == "size-or-stride" && broken_.empty() && !foreign_operators(session_.info()).empty())
        one.culprit =
            "the fake (meta) kernel of " + foreign_operators(session_.info()).front() +
            ", or its real one: the inputs keep the contract, and what it returns has another size than was declared";
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
    if (!verdict_ && refusal_.empty()) not_judged_ = why_not_judged(verdicts);
    if (result.report) {
      if (const RunSummary* reference = run_named(*result.report, "reference")) {
        reference_ = reference->outcome.kind == OutcomeKind::kFinished   ? "accepts it"
                     : reference->outcome.kind == OutcomeKind::kRejected ? "raises: " + reference->outcome.message
                                                                         : "runs out of memory";
        reference_accepts_ = result.report->reference_accepts;
        if (refusal_.empty() && !reference_accepts_) words = reference->outcome.message;
      }
      finished_ = refusal_.empty();
    } else if (result.death) {
      reference_accepts_ = result.death->reference_accepts;
      if (triage_.has_reference)
        reference_ = reference_accepts_             ? "accepts it"
                     : result.death->reference_done ? "raises"
                                                    : "ends its process" + in_step(*result.death);
      words = result.death->last_words;
      if (result.death->kind == WorkerDeath::Kind::kSignal) words += "\nended by " + signal_name(result.death->signal);
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
    else if (!not_judged_.empty())
      how = "not judged: " + not_judged_;
    else
      how = "finishes, and nothing is wrong with what it returns";
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
    if (kernel == kProxyCall) culprit_ = called_operator();
    step("suspect",
         kernel +
             (measure(*verdict_, "local error").empty() ? "" : ", local error " + measure(*verdict_, "local error")));
    if (const std::string line = measure(*verdict_, "generated line"); !line.empty()) step("generated line", line);
    for (const auto& [name, value] : kernel_measures(session_.info(), entry_.input, verdict_->measures))
      step(name, value);
    if (options_.trace && !session_.info().kernels)
      if (const auto lines = traced_lines(*options_.trace, kernel)) step(lines->first, lines->second);
    upstream_of(kernel);
  }

  /// The operator that the package calls through the proxy executor; with several the first that is not torch's own.
  std::string called_operator() const {
    std::vector<std::string> operators = foreign_operators(session_.info());
    return operators.empty() ? kProxyCall : "operator " + operators.front();
  }

  /// The way back from `kernel` to the inputs: with what each call left, where the run comes to its end, else as the
  /// package's text has it.
  void upstream_of(const std::string& kernel) {
    if (finished_) {
      for (const TraceCall& call : upstream(trace(), kernel)) {
        std::string left;
        for (const TraceTensor& tensor : call.left)
          left += (left.empty() ? "; leaves " : ", ") + tensor.name +
                  (tensor.value.empty() ? "" : " = " + tensor.value) +
                  (tensor.nans ? " with " + std::to_string(tensor.nans) + " NaN" : "");
        step("upstream, call " + std::to_string(call.ordinal),
             call.kernel + (call.verdict.empty() ? "" : ", " + call.verdict) + left);
      }
      return;
    }
    const KernelFlow flow(session_.info(), kernel_texts(session_.info()));
    const std::optional<size_t> call = flow.find(kernel);
    if (!call) return;
    for (const FlowCall::Argument& argument : flow.calls()[*call].arguments)
      if (argument.read && flow.maker(*call, argument.formal))
        for (const std::string& way : flow.upstream(*call, argument.formal))
          step("upstream of " + argument.formal, way);
  }

  /// Of the run with every tensor looked at; empty when it ends its process.
  std::vector<TraceCall> trace() {
    WorkerOptions options;
    options.program = session_.worker_program();
    options.arguments = session_.arguments();
    options.arguments.trace = TraceLevel::kStats;
    WorkerProcess worker(options);
    const CaseResult result = worker.run(entry_.input);
    return result.report ? result.report->trace : std::vector<TraceCall>();
  }

  void nan() {
    if (!finished_ && refusal_.find(" in buf") == std::string::npos) return;
    const std::vector<TraceCall> calls = trace();
    const std::string where = first_nan(calls);
    const bool none = where.starts_with("no NaN");
    const bool asked = std::any_of(report_.found.begin(), report_.found.end(),
                                   [](const Explanation& one) { return one.pattern == "nan"; });
    if (none && !asked) return;
    if (!none) nan_ = where;
    step("NaN", calls.empty() ? "the traced run ended its process, or no call was seen" : where, !calls.empty());
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
      if (one.pattern == "index-out-of-bounds" && !refusal_.empty() && one.text.find(refusal_) != std::string::npos)
        index = &one;
    for (const Explanation& one : report_.found)
      if (one.line && !seen_.contains(one.pattern) && one.pattern != "wrong-numbers")
        report_.notes.push_back("the case does not give the error of line " + std::to_string(one.line) +
                                " of the log [" + one.pattern + "]");
    if (verdict_) {
      of_verdict();
    } else if (!refusal_.empty() && triage_.has_reference && !reference_accepts_) {
      out.push_back("the input is at fault: the package refuses it (" + refusal_ + "), and the reference does too (" +
                    reference_ + ")");
    } else if (!refusal_.empty()) {
      out.push_back("the package refuses the input: " + refusal_);
    } else if (!not_judged_.empty()) {
      out.push_back("the package was not judged: " + not_judged_ +
                    (reference_.empty() || reference_accepts_ ? "" : "; the reference " + reference_));
      if (!reference_accepts_ && !reference_.empty())
        out.push_back("at fault is the input, or an operator that the reference calls too, not the compiled code");
    } else if (!checked_.empty()) {
      out.push_back(broken_.empty()
                        ? "the package is right on this input; its input checks alone refuse it: " + checked_
                        : "the caller is at fault: the input breaks " + broken_.front().text +
                              ", and the checks say so");
    } else if (nan_.empty()) {
      out.push_back(
          "nothing goes wrong on this input with this package here: the error needs another input, machine or "
          "package");
    }
    if (!nan_.empty())
      out.push_back("culprit: " + nan_ +
                    (reference_accepts_ && !verdict_ && refusal_.empty()
                         ? ", and the reference has it too: the input or the model is at fault, not the compiled code"
                         : ""));
    if (index) {
      out.push_back("culprit: " + index->culprit);
      out.push_back("to change: " + index->change);
    }
    // It has just been done.
    for (Explanation& one : report_.found)
      std::erase_if(one.commands, [](const std::string& command) { return command.starts_with("aotifuzz explain "); });
  }

  void of_verdict() {
    std::vector<std::string>& out = report_.conclusion;
    const std::string broken = broken_.empty() ? "" : broken_.front().text;
    const std::vector<std::string> unchecked = unchecked_conditions(session_.info());
    std::string change =
        change_for(*verdict_, broken,
                   std::find(unchecked.begin(), unchecked.end(), broken) != unchecked.end() || checked_.empty());
    const bool in_operator = culprit_.starts_with("operator ");
    std::string culprit = culprit_.empty() || in_operator ? culprit_ : "kernel " + culprit_;
    if (in_operator && broken.empty())
      change = "correct the operator's kernel: the package only calls it (`aotifuzz gate --ops LIBRARY` judges it)";
    if (verdict_->cls == VerdictClass::kRejectsLegal)
      for (const Explanation& one : report_.found)
        if (one.line == 0 && one.text == refusal_) {
          culprit = one.culprit;
          change = one.change;
        }
    report_.fault = verdict_->fault;
    out.push_back(std::string(verdict_->fault ? "fault: " : "gap: ") + verdict_->reason);
    const std::vector<std::string> operators = foreign_operators(session_.info());
    const auto made_by = std::find_if(operators.begin(), operators.end(), [&](const std::string& one) {
      return verdict_->reason.find("(" + one + ")") != std::string::npos;
    });
    if (culprit_.empty() && verdict_->cls == VerdictClass::kCrash && weights_left_out(session_.info())) {
      culprit = "the package has no weights (package_constants_in_so=False), and none were given to it";
      change =
          "call load_constants(state, check_full_update=True) before the first call, or compile with the weights "
          "inside";
      report_.fault = false;
    } else if (broken.empty() && made_by != operators.end()) {
      culprit = "operator " + *made_by + ", whose tensor is smaller than its fake (meta) kernel declares: " + culprit_ +
                " relies on the declaration";
      change =
          "make fake and kernel compute the same size; `aotifuzz gate --ops LIBRARY` says at which sizes they differ";
    }
    if (!culprit.empty()) out.push_back("culprit: " + culprit);
    out.push_back("to change: " + change);
    // What the table says of an ending is a guess; this was seen.
    for (Explanation& one : report_.found)
      if (is_ending(one.pattern) || (in_operator && one.pattern == "illegal-instruction")) {
        one.culprit = culprit.empty() ? verdict_->reason : culprit;
        one.change = change;
      }
  }

  PackageSession& session_;
  const CorpusEntry& entry_;
  const ExplainCaseOptions& options_;
  ExplainReport& report_;
  const TriageContext triage_;
  std::vector<Violation> broken_;
  std::optional<Verdict> verdict_;
  std::string refusal_, checked_, reference_, culprit_, nan_, not_judged_;
  std::set<std::string> seen_;  ///< rows that the runs' own words match
  bool reference_accepts_ = false, finished_ = false;
};

}  // namespace

void explain_case(PackageSession& session, const CorpusEntry& entry, const ExplainCaseOptions& options,
                  ExplainReport* report) {
  Guide(session, entry, options, report).walk();
}

}  // namespace aotifuzz
