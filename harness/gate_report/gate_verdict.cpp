#include "gate_report/gate_verdict.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "gate_report/fault_kinds.h"

namespace aotifuzz {
namespace {

bool is_about_meta_value(const std::string& kind) { return kind.starts_with("meta-wrong-"); }

/// Where an operator comes from.
struct Source {
  std::string op, library;
  const SourceLines& lines;
};

SourceLine source_line_of(const GateFinding& finding, const SourceLines& lines) {
  if (!finding.function.empty()) return {finding.file, finding.line, finding.function};
  return lines.user_line(finding.frames);
}

/// Findings with the same key have one cause.
std::string cause_of(const GateFinding& finding, const SourceLine& line) {
  const std::string where = line.line > 0 ? line.file + ":" + std::to_string(line.line) : line.function;
  if (finding.kind == "meta-specialises") return finding.kind + " " + where;
  if (finding.kind == "hidden-mutation" || finding.kind == "int-for-size") return finding.kind + " " + finding.message;
  if (finding.kind == "kernel-overruns") return finding.kind;
  if (is_about_meta_value(finding.kind) || finding.kind == "kernel-unwritten" || finding.kind == "undeclared-alias")
    return finding.kind;
  return finding.kind;
}

/// Contiguous before other layouts, then small sizes; generic ones before degenerate ones, so that the example says
/// more.
auto order_of(const GateFinding& finding) {
  const bool degenerate = finding.sizes.find("=0") != std::string::npos;
  return std::make_tuple(finding.layout != "contiguous", degenerate, finding.weight);
}

std::string symptom(const GateFinding& finding) {
  return finding.message +
         (finding.sizes.empty()
              ? ""
              : " (" + finding.sizes +
                    (finding.layout == "contiguous" || finding.layout.empty() ? "" : ", " + finding.layout) + ")");
}

GateFault fault_from(const Source& source, const GateFinding& finding) {
  GateFault fault;
  fault.kind = finding.kind;
  fault.message = finding.message;
  fault.where = source_line_of(finding, source.lines);
  if (fault.where.line == 0 && finding.line > 0) {
    fault.where.file = find_source(finding.file, source.library);
    fault.where.line = registration_line(fault.where.file, finding.line, source.op);
    fault.where_is_registration = true;
  } else {
    fault.where.file = find_source(fault.where.file, source.library);
  }
  fault.sizes = finding.sizes;
  fault.layout = finding.layout;
  fault.arguments = finding.arguments;
  fault.expected = finding.expected;
  fault.actual = finding.actual;
  fault.change = finding.change.empty() ? std::string(fault_kind(finding.kind).to_do) : finding.change;
  return fault;
}

/// Of findings of one cause, in order.
GateFault fold(const Source& source, const std::vector<GateFinding>& findings) {
  const auto best = std::min_element(findings.begin(), findings.end(), [](const GateFinding& a, const GateFinding& b) {
    return order_of(a) < order_of(b);
  });
  GateFault fault = fault_from(source, *best);
  fault.seen = static_cast<int>(findings.size());
  // Another output or another call on the same line is worth a line; the same at other sizes is not.
  std::vector<std::string> told = {best->kind == "meta-specialises" ? best->message : std::to_string(best->output)};
  for (const GateFinding& finding : findings) {
    const std::string what = finding.kind == "meta-specialises" ? finding.message : std::to_string(finding.output);
    if (std::find(told.begin(), told.end(), what) != told.end()) continue;
    told.push_back(what);
    fault.also.push_back(symptom(finding));
  }
  return fault;
}

/// Moves what is a symptom of another fault of the operator into it.
void absorb(std::vector<GateFault>* faults, const char* cause, const std::vector<std::string>& symptoms) {
  const auto main = std::find_if(faults->begin(), faults->end(), [&](const GateFault& f) { return f.kind == cause; });
  if (main == faults->end()) return;
  std::vector<GateFault> kept;
  std::vector<std::string> also;
  int seen = 0;
  for (GateFault& fault : *faults) {
    if (std::find(symptoms.begin(), symptoms.end(), fault.kind) == symptoms.end()) {
      kept.push_back(std::move(fault));
      continue;
    }
    seen += fault.seen;
    also.push_back(fault.kind + ": " + fault.message + (fault.sizes.empty() ? "" : " (" + fault.sizes + ")"));
  }
  *faults = std::move(kept);
  const auto again = std::find_if(faults->begin(), faults->end(), [&](const GateFault& f) { return f.kind == cause; });
  again->also.insert(again->also.end(), also.begin(), also.end());
  again->seen += seen;
}

/// A mismatch without a place of its own is what a specialisation that has one leads to.
void absorb_specialised(std::vector<GateFault>* faults) {
  const auto placed = std::find_if(faults->begin(), faults->end(), [](const GateFault& f) {
    return f.kind == "meta-specialises" && !f.where_is_registration;
  });
  if (placed == faults->end()) return;
  const std::string message = placed->message;
  std::erase_if(*faults, [&](const GateFault& f) {
    return f.kind == "meta-specialises" && f.where_is_registration && f.message != message;
  });
}

std::vector<GateFault> faults_of(const Source& source, const std::vector<GateFinding>& findings, bool preconditions) {
  std::map<std::string, std::vector<GateFinding>> by_cause;
  for (const GateFinding& finding : findings)
    if (finding.precondition == preconditions)
      by_cause[cause_of(finding, source_line_of(finding, source.lines))].push_back(finding);
  std::vector<GateFault> faults;
  for (const auto& [cause, same] : by_cause) faults.push_back(fold(source, same));
  absorb_specialised(&faults);
  absorb(&faults, "undeclared-alias", {"meta-wrong-alias", "meta-wrong-stride"});
  // A tensor that is written and returned: one missing (a!).
  absorb(&faults, "hidden-mutation", {"undeclared-alias"});
  absorb(&faults, "meta-crashes", {"meta-raises", "meta-reads-data"});
  absorb(&faults, "kernel-overruns", {"kernel-crashes"});
  std::stable_sort(faults.begin(), faults.end(), [](const GateFault& a, const GateFault& b) {
    return std::make_tuple(fault_rank(a.kind), a.where.line) < std::make_tuple(fault_rank(b.kind), b.where.line);
  });
  return faults;
}

OperatorVerdict verdict_of(GateOperator&& op, const Source& source) {
  OperatorVerdict verdict;
  verdict.faults = faults_of(source, op.findings, false);
  verdict.preconditions = faults_of(source, op.findings, true);
  // The kernel's death on empty tensors, where it overruns others as well.
  const bool overruns = std::any_of(verdict.faults.begin(), verdict.faults.end(),
                                    [](const GateFault& f) { return f.kind == "kernel-overruns"; });
  if (overruns) std::erase_if(verdict.preconditions, [](const GateFault& f) { return f.kind.starts_with("kernel-"); });
  verdict.name = std::move(op.name);
  verdict.schema = std::move(op.schema);
  verdict.reason = std::move(op.not_judged);
  verdict.notes = std::move(op.notes);
  verdict.arguments = std::move(op.arguments);
  verdict.drawn_by_default = op.drawn_by_default;
  verdict.calls = op.calls;
  verdict.calls_not_used = std::move(op.calls_not_used);
  verdict.points = op.points;
  verdict.seconds = op.seconds;
  if (!op.is_through() && verdict.reason.empty() && verdict.faults.empty())
    verdict.reason = "its process did not come to an end";
  verdict.status = !verdict.faults.empty()  ? GateStatus::kFaults
                   : verdict.reason.empty() ? GateStatus::kOk
                                            : GateStatus::kNotJudged;
  return verdict;
}

}  // namespace

std::vector<OperatorVerdict> judge_operators(std::vector<GateOperator> operators, const std::string& library) {
  std::vector<GateFrame> frames;
  for (const GateOperator& op : operators)
    for (const GateFinding& finding : op.findings)
      frames.insert(frames.end(), finding.frames.begin(), finding.frames.end());
  const SourceLines lines(frames);
  std::sort(operators.begin(), operators.end(),
            [](const GateOperator& a, const GateOperator& b) { return a.name < b.name; });
  std::vector<OperatorVerdict> verdicts;
  for (GateOperator& op : operators) {
    const Source source{op.name, library, lines};
    verdicts.push_back(verdict_of(std::move(op), source));
  }
  return verdicts;
}

std::string relative_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || path.empty() || path[0] != '/') return path;
  const std::string prefix = here.string() + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

std::string place_text(const GateFault& fault) {
  std::string out;
  if (fault.where.line > 0) out = relative_path(fault.where.file) + ":" + std::to_string(fault.where.line);
  if (fault.where_is_registration)
    return out + (fault.where.function.empty() ? "" : " (" + fault.where.function + ")") + ", where it is registered";
  if (!fault.where.function.empty()) out += out.empty() ? fault.where.function : " (" + fault.where.function + ")";
  return out;
}

}  // namespace aotifuzz
