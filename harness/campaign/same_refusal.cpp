#include "campaign/same_refusal.h"

#include <algorithm>
#include <utility>

#include "package/error_recogniser.h"

namespace aotifuzz {
namespace {

std::string without_numbers(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c < '0' || c > '9')
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  return out;
}

bool is_index_check(const std::string& text) { return text.find("index out of bounds: 0 <= ") != std::string::npos; }

}  // namespace

std::string refusal_of(const CaseResult& result) {
  if (!result.report) return {};
  for (const RunSummary& run : result.report->runs)
    if (run.run.starts_with("subject") && run.outcome.kind == OutcomeKind::kRejected) return run.outcome.message;
  return {};
}

bool same_refusal(const std::string& a, const std::string& b) {
  if (is_index_check(a) || is_index_check(b)) return a == b;
  return without_numbers(a) == without_numbers(b);
}

SameRefusal::SameRefusal(CaseExecutor& executor, std::string error) : executor_(executor), error_(std::move(error)) {}

CaseResult SameRefusal::run(const Case& c) {
  CaseResult result = executor_.run(c);
  const std::string refusal = refusal_of(result);
  if (refusal.empty() || !same_refusal(refusal, error_)) return result;
  Verdict verdict;
  verdict.oracle = "explain";
  verdict.status = VerdictStatus::kFail;
  verdict.cls = VerdictClass::kRejectsLegal;
  verdict.signature = "refused in the same way";
  verdict.reason = refusal;
  result.report->verdicts.push_back(std::move(verdict));
  return result;
}

}  // namespace aotifuzz
