#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "campaign/known_issues.h"

/// Known issues from anyone: an answer with issues that each narrow what they match, or an error that names a line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto issues = aotifuzz::parse_known_issues(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!issues) {
    if (issues.error().what.empty() || !issues.error().where.starts_with("line ")) std::abort();
    return 0;
  }
  aotifuzz::Verdict verdict;
  verdict.status = aotifuzz::VerdictStatus::kFail;
  for (const aotifuzz::KnownIssue& issue : *issues) {
    if (issue.link.empty() || issue.reason.empty() || issue.line < 1) std::abort();
    // A verdict of its class that says nothing else must not match.
    verdict.cls = issue.cls;
    if (aotifuzz::matches(issue, verdict, {})) std::abort();
  }
  return 0;
}
