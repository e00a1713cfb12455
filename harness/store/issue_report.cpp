#include "store/issue_report.h"

#include <algorithm>

#include "store/case_text.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

std::string cell(std::string text) {
  std::string out;
  for (const char c : text) {
    if (c == '|')
      out += "\\|";
    else if (c == '\n')
      out += "<br>";
    else
      out += c;
  }
  return out;
}

constexpr size_t kKernelLinesMax = 80;

/// At most so many lines of `text`, with a line that says how many were left out.
std::string first_lines(const std::string& text, size_t most) {
  size_t end = 0, lines = 0;
  for (; lines < most && end < text.size(); ++lines) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  std::string out = text.substr(0, end);
  if (!out.empty() && out.back() != '\n') out += '\n';
  if (end == text.size()) return out;
  const auto left = std::count(text.begin() + static_cast<long>(end), text.end(), '\n') + (text.back() != '\n');
  return out + "(" + std::to_string(left) + " more lines)\n";
}

}  // namespace

std::string print_issue_report(const Finding& finding, const FindingContext& context, const std::string& script,
                               const std::string& folder) {
  const Verdict& verdict = finding.verdict;
  const std::string cls(verdict.cls ? verdict_class_name(*verdict.cls) : "");
  std::string out =
      "# [AOTInductor] " + cls + ": " + (verdict.reason.empty() ? verdict.signature : verdict.reason) + "\n\n";
  out +=
      "## What is wrong\n\n" + std::string(verdict.cls ? verdict_class_meaning(*verdict.cls) : "") + " " +
      (verdict.fault ? "The inputs are legal: the exported program declares them and eager accepts them."
                     : "The inputs are not legal, and nothing stops them: this is a gap in what the package checks.") +
      "\n\n";
  out += "Signature: `" + verdict.signature + "` (" + (verdict.fault ? "fault" : "gap") + ", class `" + cls +
         "`, oracle `" + verdict.oracle + "`).\n";
  out += "It came " + std::to_string(finding.reproduced) + " of " + std::to_string(finding.tries) +
         " times in fresh processes";
  if (finding.duplicates) out += ", and in " + std::to_string(finding.duplicates) + " further cases";
  out += ".\n\n## Smallest inputs\n\n```\n" + print_case(finding.minimal) + "```\n\n";
  if (!finding.before.empty()) {
    out +=
        "It shows only after the following ran in the same process: damaged memory, or memory that was never "
        "written.\n\n";
    for (const Case& c : finding.before) out += "```\n" + print_case(c) + "```\n\n";
  }
  if (finding.one_minimal)
    out +=
        "No single further simplification keeps the failure (" + std::to_string(finding.reduction_runs) + " runs).\n";
  else if (finding.reduction_runs)
    out += "The reduction stopped at its budget (" + std::to_string(finding.reduction_runs) +
           " runs); `aotifuzz minimize` may go further.\n";
  for (const std::string& line : finding.certificate) out += "- " + line + "\n";
  if (!verdict.measures.empty()) {
    out += "\n## Measured\n\n| measure | value |\n| --- | --- |\n";
    for (const auto& [key, value] : verdict.measures) out += "| " + cell(key) + " | " + cell(value) + " |\n";
  }
  if (!context.kernel_text.empty())
    out += "\n## The kernel\n\n`" + context.kernel_where + "` in the package:\n\n```\n" +
           first_lines(context.kernel_text, kKernelLinesMax) + "```\n";
  out += "\n## Environment\n\n| | |\n| --- | --- |\n";
  out += "| package | " + cell(finding.package) + " |\n";
  for (const auto& [key, value] : finding.environment) out += "| " + cell(key) + " | " + cell(value) + " |\n";
  out += "\n## Replay\n\n```\n" + replay_command(folder) +
         "\n```\n\n## Reproducer that needs only torch\n\n```python\n" + script + "```\n";
  return out;
}

}  // namespace aotifuzz
