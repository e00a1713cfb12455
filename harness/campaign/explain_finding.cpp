#include "campaign/explain_finding.h"

#include "campaign/triage.h"
#include "package/kernel_detail.h"

namespace aotifuzz {

std::string change_for(const Verdict& verdict, const std::string& broken, bool unchecked) {
  if (!broken.empty())
    return unchecked ? "no compiled check refuses inputs that break `" + broken +
                           "`: check it before the call, or make the model refuse them (torch._check) and compile again"
                     : "such inputs are refused only with AOTI_RUNTIME_CHECK_INPUTS=1 (`" + broken +
                           "`): set it, or check it before the call";
  switch (verdict.cls.value_or(VerdictClass::kWrongResult)) {
    case VerdictClass::kMissesError:
      return "check in the model what eager checks (torch._check on sizes; clamp or compare indices)";
    case VerdictClass::kRejectsLegal:
      return "the compiled check refuses what the declaration allows: leave AOTI_RUNTIME_CHECK_INPUTS unset where it "
             "is "
             "an input check, else declare a narrower range";
    case VerdictClass::kHang:
      return "bound the loop in the model";
    default:
      break;
  }
  if (!verdict.fault) return "check such inputs before the call, or in the model (torch._check)";
  return "the package is at fault, not the caller: report it with the case, and try another torch (`aotifuzz replay "
         "CASE "
         "--torch ...`) or the operation in another form";
}

Explanation explain_finding(const FindingRecord& record, const ExplainPaths& paths) {
  const Verdict& verdict = record.verdict;
  Explanation out;
  out.pattern = verdict_class_name(verdict.cls.value_or(VerdictClass::kWrongResult));
  out.title = std::string(verdict.fault ? "fault: " : "gap: ") + verdict.signature;
  out.text = verdict.reason;
  out.meaning = verdict_class_meaning(verdict.cls.value_or(VerdictClass::kWrongResult));
  // The signature ends with the condition that its inputs break.
  constexpr std::string_view kBreaks = ", breaks ";
  const size_t at = verdict.signature.find(kBreaks);
  const std::string broken = at == std::string::npos ? "" : verdict.signature.substr(at + kBreaks.size());
  const std::string kernel = named_kernel(verdict.measures);
  out.culprit = !broken.empty()
                    ? "the input breaks " + broken + (kernel.empty() ? "" : ", and " + kernel + " relies on it")
                : !kernel.empty() ? "kernel " + kernel
                                  : verdict.reason;
  out.change = change_for(verdict, broken, true);
  for (const auto& [name, value] : verdict.measures) out.facts.emplace_back(name, value);
  for (const std::string& line : record.certificate) out.facts.emplace_back("smallest", line);
  if (record.tries)
    out.facts.emplace_back("reproduced", std::to_string(record.reproduced) + " of " + std::to_string(record.tries));
  const std::string package = paths.package.empty() ? record.package : paths.package;
  out.commands.push_back("aotifuzz replay " + paths.input);
  if (!package.empty()) out.commands.push_back("aotifuzz trace " + package + " " + paths.input + " --level stats");
  return out;
}

}  // namespace aotifuzz
