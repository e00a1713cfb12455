#include "gate_report/gate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "gate_report/calls_text.h"
#include "gate_report/fault_kinds.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

/// More names than this in a line help nobody.
constexpr size_t kNamesMax = 6;

std::string status_word(GateStatus status) {
  switch (status) {
    case GateStatus::kOk:
      return "ok";
    case GateStatus::kFaults:
      return "faults";
    case GateStatus::kNotJudged:
      return "not judged";
  }
  return "";
}

std::string sizes_text(const GateFault& fault) {
  if (fault.sizes.empty()) return fault.arguments;
  const bool plain = fault.layout.empty() || fault.layout == "contiguous";
  return fault.sizes + (plain ? "" : ", tensors " + fault.layout) +
         (fault.arguments.empty() ? "" : "   " + fault.arguments);
}

/// "a, b, c and 4 more".
std::string names_text(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size() && i < kNamesMax; ++i) out += (i ? ", " : "") + names[i];
  if (names.size() > kNamesMax) out += fmt::format(" and {} more", names.size() - kNamesMax);
  return out;
}

std::string fault_text(const GateFault& fault) {
  std::string out = fmt::format("  {}: {}\n", fault.kind, fault.message);
  const std::string place = place_text(fault);
  if (!place.empty()) out += "    at " + place + "\n";
  if (const std::string sizes = sizes_text(fault); !sizes.empty()) out += "    with " + sizes + "\n";
  if (!fault.expected.empty() && fault.kind.starts_with("meta-wrong-"))
    out += fmt::format("    meta {}, kernel {}\n", fault.expected, fault.actual);
  else if (!fault.actual.empty() && fault.actual != fault.message && fault.kind.starts_with("kernel-"))
    out += "    " + fault.actual + "\n";
  for (const std::string& also : fault.also) out += "    also " + also + "\n";
  if (!fault.change.empty()) out += "    to do: " + fault.change + "\n";
  return out;
}

std::string library_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

ordered_json fault_json(const GateFault& fault) {
  return {{"kind", fault.kind},
          {"message", fault.message},
          {"file", relative_path(fault.where.file)},
          {"line", fault.where.line},
          {"function", fault.where.function},
          {"place", fault.where_is_registration ? "registration" : "code"},
          {"sizes", fault.sizes},
          {"layout", fault.layout},
          {"arguments", fault.arguments},
          {"meta", fault.expected},
          {"kernel", fault.actual},
          {"to_do", fault.change},
          {"also", fault.also},
          {"seen", fault.seen}};
}

}  // namespace

std::string faults_text(const OperatorVerdict& verdict) {
  std::string out =
      fmt::format("{}: {} fault{}\n", verdict.name, verdict.faults.size(), verdict.faults.size() == 1 ? "" : "s");
  for (const GateFault& fault : verdict.faults) out += fault_text(fault);
  return out;
}

std::string gate_text(const std::vector<OperatorVerdict>& verdicts) {
  std::string out;
  std::map<std::string, std::vector<std::string>> not_judged;
  std::vector<std::string> ok;
  size_t faulty = 0, faults = 0;
  for (const OperatorVerdict& verdict : verdicts) {
    if (verdict.status == GateStatus::kOk) ok.push_back(verdict.name);
    if (verdict.status == GateStatus::kNotJudged) not_judged[verdict.reason].push_back(verdict.name);
    if (verdict.status != GateStatus::kFaults) continue;
    ++faulty;
    faults += verdict.faults.size();
    out += faults_text(verdict) + "\n";
  }
  bool first = true;
  for (const OperatorVerdict& verdict : verdicts) {
    if (verdict.preconditions.empty()) continue;
    if (std::exchange(first, false))
      out += "preconditions (arguments drawn by default; a line in the spec says which are legal):\n";
    const GateFault& fault = verdict.preconditions.front();
    out +=
        fmt::format("  {}: {}{}\n", verdict.name, fault.message, fault.sizes.empty() ? "" : " (" + fault.sizes + ")");
  }
  if (!first) out += "\n";
  if (!not_judged.empty()) out += "not judged:\n";
  for (const auto& [reason, names] : not_judged) out += fmt::format("  {}: {}\n", names_text(names), reason);
  if (!not_judged.empty()) out += "\n";
  if (!ok.empty()) out += "ok: " + names_text(ok) + "\n";
  const size_t unjudged = verdicts.size() - ok.size() - faulty;
  return out + fmt::format("{} operators: {} ok, {} with faults ({}), {} not judged\n", verdicts.size(), ok.size(),
                           faulty, faults, unjudged);
}

std::string gate_json(const std::string& library, const std::vector<OperatorVerdict>& verdicts, int exit_code,
                      const std::vector<ProgramCalls>& programs) {
  auto list = ordered_json::array();
  for (const OperatorVerdict& verdict : verdicts) {
    auto faults = ordered_json::array(), preconditions = ordered_json::array();
    for (const GateFault& fault : verdict.faults) faults.push_back(fault_json(fault));
    for (const GateFault& fault : verdict.preconditions) preconditions.push_back(fault_json(fault));
    list.push_back({{"name", verdict.name},
                    {"schema", verdict.schema},
                    {"status", status_word(verdict.status)},
                    {"reason", verdict.reason},
                    {"faults", std::move(faults)},
                    {"preconditions", std::move(preconditions)},
                    {"notes", verdict.notes},
                    {"arguments", verdict.arguments},
                    {"drawn_by_default", verdict.drawn_by_default},
                    {"points", verdict.points},
                    {"seconds", verdict.seconds}});
  }
  ordered_json root = {{"library", library}, {"operators", std::move(list)}, {"exit_code", exit_code}};
  if (!programs.empty()) root["calls"] = calls_json(programs, verdicts);
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

CiReport gate_ci_report(const std::string& library, const std::vector<OperatorVerdict>& verdicts,
                        const std::string& tool_version) {
  CiReport report;
  report.tool_version = tool_version;
  for (const FaultKind& kind : fault_kinds())
    report.rules.push_back({std::string(kind.id), std::string(kind.meaning), std::string(kind.to_do)});
  const std::string suite = library_name(library);
  for (const OperatorVerdict& verdict : verdicts) {
    CiItem item;
    item.suite = suite;
    item.name = verdict.name;
    item.seconds = verdict.seconds;
    if (verdict.status != GateStatus::kFaults) {
      item.status = verdict.status == GateStatus::kOk ? CiStatus::kPassed : CiStatus::kSkipped;
      item.message = verdict.reason;
      report.items.push_back(std::move(item));
      continue;
    }
    for (size_t i = 0; i < verdict.faults.size(); ++i) {
      const GateFault& fault = verdict.faults[i];
      CiItem failed = item;
      // One test case a fault: the first keeps the operator's name, so that its history stays one.
      if (i > 0) failed.name += " " + fault.kind + (i > 1 ? " " + std::to_string(i) : "");
      failed.status = CiStatus::kFailed;
      failed.rule = fault.kind;
      failed.message = verdict.name + ": " + fault.message;
      failed.detail = fault_text(fault);
      failed.file = relative_path(fault.where.file);
      failed.line = fault.where.line;
      failed.fingerprint = verdict.name + " " + fault.kind + " " + fault.where.function;
      report.items.push_back(std::move(failed));
    }
  }
  return report;
}

}  // namespace aotifuzz
