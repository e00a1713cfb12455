#include "campaign/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "campaign/audit_indexing.h"
#include "campaign/audit_lines.h"
#include "campaign/audit_reduction.h"
#include "campaign/audit_sizes.h"
#include "campaign/confirmation.h"
#include "core/python_repro.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

using Clock = AuditRunner::Clock;
using Answer = AuditTrial::Answer;

// Of the time, however much there is to confirm.
constexpr double kSearchShareLeast = 0.4;
constexpr size_t kCandidates = 3;  // of one line, until one comes each time

class Audit {
 public:
  Audit(const AuditSubjectMatter& subject, CaseExecutor& executor, const AuditOptions& options,
        const std::function<void(const AuditProgress&)>& progress, const std::function<bool()>& stop)
      : subject_(subject),
        options_(options),
        runner_(subject.triage, executor, options.checks, options.begun + options.time, progress, stop) {}

  AuditReport run() {
    report_.package = subject_.package;
    report_.torch = subject_.torch;
    report_.checks = options_.checks;
    report_.has_reference = subject_.triage.has_reference;
    runner_.executor().set_careful(false);
    try_bases();
    size_t next = 0;
    std::vector<AuditAxis> axes;
    if (subject_.bases.empty()) {
      next = try_probes(next, 0);
    } else {
      AuditSizes sizes(runner_, subject_.bounds, subject_.bases.front(), subject_.revalue, options_.elements_max);
      sizes.set_second_values(subject_.second_values);
      // What is declared comes first: where time is short, nothing else must be left untried.
      sizes.try_declared_edges();
      next = try_probes(next, 0);
      sizes.try_edges();
      next = try_probes(next, 1);
      sizes.try_widths();
      sizes.pin_down();
      axes = sizes.take();
    }
    next = try_probes(next, 1 << 30);
    note_left_out(next, axes);
    judge(axes);
    reduce();
    add_index_widths();
    runner_.executor().set_careful(true);
    add_not_tried();
    report_.cases = runner_.cases() + confirmations_ + report_.reduction_runs;
    report_.not_judged = runner_.not_judged();
    report_.judged = report_.cases;
    for (const auto& [reason, runs] : report_.not_judged) report_.judged -= runs;
    report_.seconds = std::chrono::duration<double>(Clock::now() - options_.begun).count();
    return std::move(report_);
  }

 private:
  /// Leaves time to confirm what was seen so far.
  void keep_time_for(const std::string& item, const AuditAnswer& answer) {
    if (answer.in(options_.checks).answer != Answer::kHarm || !suspected_.insert(item).second) return;
    const std::chrono::duration<double> all = options_.time;
    const auto confirming = runner_.confirming(options_.confirm_runs) * suspected_.size();
    const auto search = std::max(all - confirming, all * kSearchShareLeast);
    runner_.set_deadline(options_.begun + std::chrono::duration_cast<Clock::duration>(search));
  }

  AuditEvidence& evidence(AuditSubject subject, const std::string& item) {
    for (AuditEvidence& one : evidence_)
      if (one.item == item) return one;
    evidence_.push_back({subject, item, {}});
    return evidence_.back();
  }

  void try_bases() {
    for (const Case& c : subject_.bases)
      if (auto answer = runner_.run(c, "the contract", "a plain input"))
        evidence(AuditSubject::kContract, "inputs as declared").answers.push_back(std::move(*answer));
  }

  size_t try_probes(size_t next, int round) {
    for (; next < subject_.probes.size() && subject_.probes[next].round <= round; ++next) {
      const AuditProbe& probe = subject_.probes[next];
      auto answer = runner_.run(probe.input, probe.item, probe.label);
      if (!answer) return next;
      keep_time_for(probe.item, *answer);
      evidence(probe.subject, probe.item).answers.push_back(std::move(*answer));
    }
    return next;
  }

  void note_left_out(size_t next, const std::vector<AuditAxis>& axes) {
    report_.out_of_time = runner_.ended() && next < subject_.probes.size();
    std::map<std::string, int> waiting;
    for (size_t i = next; i < subject_.probes.size(); ++i) ++waiting[subject_.probes[i].item];
    for (const auto& [item, cases] : waiting)
      report_.untried.push_back({fmt::format("{}: {} case{}", item, cases, cases == 1 ? "" : "s"), "no time left"});
    for (const AuditAxis& axis : axes) {
      report_.out_of_time |= axis.cut_short;
      if (axis.cut_short) report_.untried.push_back({axis.name + ": some sizes", "no time left"});
      const int64_t last = axis.answers.empty() ? -1 : axis.answers.rbegin()->first;
      if (!axis.declared_max)
        report_.untried.push_back(
            {fmt::format("{} above {}", axis.name, last),
             axis.too_large ? "more elements than an audit allots to an input" : "declared without an upper bound"});
    }
  }

  void judge(const std::vector<AuditAxis>& axes) {
    // What varying a size broke is evidence for that condition as well.
    for (const AuditAxis& axis : axes)
      for (const auto& [value, answer] : axis.answers)
        if (answer.broken.size() == 1)
          evidence(AuditSubject::kRelation, answer.broken.front().text).answers.push_back(answer);
    const bool base_fails = !evidence_.empty() && evidence_.front().subject == AuditSubject::kContract &&
                            std::any_of(evidence_.front().answers.begin(), evidence_.front().answers.end(),
                                        [&](const auto& a) { return a.in(options_.checks).answer == Answer::kHarm; });
    runner_.set_deadline(options_.begun + options_.time);
    std::stable_sort(evidence_.begin(), evidence_.end(),
                     [](const auto& a, const auto& b) { return a.subject < b.subject; });
    const auto first_relation = [&] {
      return std::find_if(evidence_.begin(), evidence_.end(),
                          [](const auto& one) { return one.subject > AuditSubject::kSize; });
    };
    for (auto one = evidence_.begin(); one != first_relation(); ++one)
      settle(draft_item(subject_.info, *one, options_.checks));
    for (const AuditAxis& axis : axes) settle(draft_axis(subject_.info, axis, options_.checks, base_fails));
    for (auto one = first_relation(); one != evidence_.end(); ++one)
      settle(draft_item(subject_.info, *one, options_.checks));
  }

  void settle(AuditDraft draft) {
    shows_.emplace_back();
    for (AuditSuspicion& suspicion : draft.suspicions)
      if (confirm_line(suspicion))
        add_unsafe(draft.item, suspicion);
      else
        report_.unconfirmed.push_back(
            fmt::format("{}: {}{}", draft.item.name, suspicion.line.what, runner_.ended() ? " (no time left)" : ""));
    std::stable_sort(draft.item.lines.begin(), draft.item.lines.end(),
                     [](const auto& a, const auto& b) { return a.word < b.word; });
    report_.items.push_back(std::move(draft.item));
  }

  void add_unsafe(AuditItem& item, AuditSuspicion& suspicion) {
    shows_.back().push_back(std::move(suspicion.shows));
    item.lines.push_back(std::move(suspicion.line));
  }

  void reduce() {
    std::vector<AuditReducible> lines;
    for (size_t i = 0; i < report_.items.size(); ++i) {
      size_t next = 0;
      for (AuditLine& line : report_.items[i].lines)
        if (line.word == AuditWord::kUnsafe) lines.push_back({&line, line.input, std::move(shows_[i][next++])});
    }
    const AuditReductions done = reduce_lines(runner_, lines, options_.confirm_runs,
                                              [&](const AuditReducible& one) { write(*one.line, one.original); });
    report_.reduced = done.lines;
    report_.reduction_cut_short = done.cut_short;
    report_.reduction_unconfirmed = done.unconfirmed;
    report_.reduction_runs = done.runs;
    if (!subject_.trace) return;
    for (AuditItem& item : report_.items)
      for (AuditLine& line : item.lines) line.because = reasons(item, line);
  }

  void add_index_widths() {
    const std::vector<KernelIndexing> kernels = kernel_indexing(subject_.info);
    for (AuditItem& item : index_width_items(kernels)) report_.items.push_back(std::move(item));
    for (AuditUntried& one : index_width_untried(subject_.info, kernels)) report_.untried.push_back(std::move(one));
    std::stable_sort(report_.items.begin(), report_.items.end(),
                     [](const auto& a, const auto& b) { return a.subject < b.subject; });
  }

  /// What the trace has recorded of a line's condition; else what its case breaks and the plain case does not: guards
  /// speak of sizes only.
  std::vector<std::string> reasons(const AuditItem& item, const AuditLine& line) const {
    std::vector<std::string> out;
    if (line.input.inputs.empty() || item.subject > AuditSubject::kRelation) return out;
    for (const Condition& condition : subject_.info.contract.conditions)
      if (condition.text == item.name) out = guards_of(*subject_.trace, condition.expr);
    if (!out.empty()) return out;
    std::vector<std::string> always;
    if (!subject_.bases.empty()) always = broken_guards(*subject_.trace, subject_.bases.front());
    for (std::string& guard : broken_guards(*subject_.trace, line.input))
      if (std::find(always.begin(), always.end(), guard) == always.end()) out.push_back(std::move(guard));
    return out;
  }

  /// Each try in a fresh process, the last one with every kernel judged, so that the verdict names the culprit. None
  /// when time is over.
  std::optional<Confirmation> confirmed(const Case& c, const std::string& key) {
    Confirmation all;
    for (int i = 0; i < options_.confirm_runs; ++i) {
      if (runner_.ended()) return std::nullopt;
      runner_.executor().set_careful(i + 1 == options_.confirm_runs);
      Confirmation one = confirm(subject_.triage, runner_.executor(), c, key, {}, 1);
      ++confirmations_;
      ++all.tries;
      all.reproduced += one.reproduced;
      if (one.verdict) all.verdict = std::move(one.verdict);
      if (all.reproduced < all.tries) break;
    }
    return all;
  }

  bool confirm_line(AuditSuspicion& suspicion) {
    AuditLine& line = suspicion.line;
    for (size_t i = 0; i < suspicion.candidates.size() && i < kCandidates; ++i) {
      const AuditAnswer& answer = suspicion.candidates[i];
      Case c = answer.input;
      c.input_checks = options_.checks == ChecksMode::kOn;
      c.runs = 2;
      const std::string key = finding_key(*answer.in(options_.checks).harm);
      const std::optional<Confirmation> seen = confirmed(c, key);
      if (!seen) return false;
      if (seen->reproduced < seen->tries || !seen->verdict) continue;
      line.inside =
          answer.broken.empty() && (answer.in(options_.checks).reference_accepts || !subject_.triage.has_reference);
      line.verdict = seen->verdict;
      line.reproduced = seen->reproduced;
      line.tries = seen->tries;
      line.input = std::move(c);
      write(line, line.input);
      return true;
    }
    return false;
  }

  void write(AuditLine& line, const Case& original) {
    if (options_.out.empty()) return;
    Finding finding;
    finding.verdict = *line.verdict;
    finding.minimal = line.input;
    finding.original = original;
    finding.reproduced = line.reproduced;
    finding.tries = line.tries;
    finding.package = subject_.package;
    finding.model = subject_.model;
    finding.environment = subject_.environment;
    FindingContext context = subject_.context;
    context.inputs_python = python_inputs(line.input);
    if (line.folder.empty())
      line.folder = options_.out + "/findings/" +
                    finding_slug(*line.verdict, finding_key(*line.verdict) + context.package_hash + line.what);
    write_finding_folder(line.folder, finding, context);
  }

  void add_not_tried() {
    const auto add = [&](std::string what, std::string why) {
      report_.untried.push_back({std::move(what), std::move(why)});
    };
    const bool cuda = subject_.info.compiled && subject_.info.compiled->device == "cuda";
    for (const AuditUntried& one : subject_.untried) report_.untried.push_back(one);
    add("sparse, quantised, meta and conjugated tensors", "a case cannot say them");
    add("inputs of 2^31 elements and more", "they take gigabytes");
    add("grid limit of 65,535 blocks",
        cuda ? "sizes are limited to what an audit allots to an input" : "not run: the package is for the CPU");
    if (subject_.bases.empty()) add("sizes", "no input that the contract allows was found");
    for (const std::string& note : subject_.bounds.notes) add("conditions of the contract", note);
  }

  const AuditSubjectMatter& subject_;
  const AuditOptions& options_;
  AuditRunner runner_;
  std::set<std::string> suspected_;
  std::vector<AuditEvidence> evidence_;
  std::vector<std::vector<std::function<bool(const Case&)>>> shows_;  ///< per item of the report, per unsafe line
  AuditReport report_;
  int confirmations_ = 0;
};

}  // namespace

AuditReport audit(const AuditSubjectMatter& subject, CaseExecutor& executor, const AuditOptions& options,
                  const std::function<void(const AuditProgress&)>& progress, const std::function<bool()>& stop) {
  return Audit(subject, executor, options, progress, stop).run();
}

}  // namespace aotifuzz
