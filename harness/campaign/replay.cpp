#include "campaign/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace aotifuzz {
namespace {

constexpr const char* kNoReference =
    "no reference: looked for crashes, hangs, memory faults and results that change between runs only";

/// Did some oracle decide? Agreement that proves little is still agreement; what no oracle could decide is not.
bool any_judged(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return verdict.status == VerdictStatus::kPass || verdict.status == VerdictStatus::kFail ||
           (verdict.status == VerdictStatus::kMistrusted && verdict.reason.find("proves little") != std::string::npos);
  });
}

/// Classes that only a comparison with the reference can give.
bool needs_reference(VerdictClass cls) {
  switch (cls) {
    case VerdictClass::kWrongResult:
    case VerdictClass::kWrongMetadata:
    case VerdictClass::kInputChanged:
    case VerdictClass::kRejectsLegal:
    case VerdictClass::kMissesError:
    case VerdictClass::kAcceptsIllegal:
      return true;
    default:
      return false;
  }
}

/// May a case that failed with `cls` be called fixed? Wrong numbers only when the numbers were compared and agreed:
/// that another oracle was content says nothing about them.
bool settles(const TriageContext& context, const std::vector<Verdict>& verdicts, std::optional<VerdictClass> cls) {
  if (cls && needs_reference(*cls) && !context.has_reference) return false;
  if (cls != VerdictClass::kWrongResult) return any_judged(verdicts);
  std::vector<Verdict> numbers;
  for (const Verdict& verdict : verdicts)
    if (verdict.oracle == "close") numbers.push_back(verdict);
  return any_judged(numbers);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "; ") + part;
  return out;
}

std::string expected_key(const Expectation& expectation) {
  std::string out = expectation.fault ? (*expectation.fault ? "fault " : "gap ") : "";
  if (expectation.cls) out += verdict_class_name(*expectation.cls);
  if (!expectation.signature.empty()) out += ": " + expectation.signature;
  return out;
}

}  // namespace

bool is_surprise(const ReplayResult& result) {
  using Status = ReplayResult::Status;
  const bool fails = result.status == Status::kStillFails || result.status == Status::kFlaky;
  // Elsewhere it must not fail so, nor with another fault; that a gap is another one there is nobody's business.
  if (!result.expected_to_fail) return fails || (result.status == Status::kChanged && result.fault);
  return !fails;
}

std::string_view replay_status_name(ReplayResult::Status status) {
  switch (status) {
    case ReplayResult::Status::kStillFails:
      return "still fails";
    case ReplayResult::Status::kFlaky:
      return "flaky";
    case ReplayResult::Status::kChanged:
      return "changed";
    case ReplayResult::Status::kFixed:
      return "fixed";
    case ReplayResult::Status::kNotJudged:
      return "not judged";
    case ReplayResult::Status::kFails:
      return "fails";
    case ReplayResult::Status::kPasses:
      return "passes";
  }
  return "";
}

ReplayResult replay(const TriageContext& context, CaseExecutor& executor, const CorpusEntry& entry, int times,
                    const std::string& torch) {
  ReplayResult result;
  if (const auto version = parse_torch_version(torch); version && entry.expectation)
    result.expected_to_fail = entry.expectation->torch.holds(*version);
  // Without a reference nothing is called a fault: the section says nothing about being the same.
  std::optional<Expectation> expected_of = entry.expectation;
  if (expected_of && !context.has_reference) expected_of->fault.reset();
  bool judged = false;
  int failed_runs = 0;
  for (int i = 0; i < times; ++i) {
    executor.renew();
    for (const Case& before : entry.before) executor.run(before);
    std::vector<Verdict> verdicts = judge_result(context, entry.input, executor.run(entry.input));
    ++result.tries;
    judged = judged || settles(context, verdicts, entry.expectation ? entry.expectation->cls : std::nullopt);
    bool expected = false, failed = false, fault = false;
    for (const Verdict& verdict : verdicts) {
      if (verdict.status != VerdictStatus::kFail) continue;
      failed = true;
      fault = fault || verdict.fault;
      expected = expected || (expected_of && matches(*expected_of, verdict));
      const std::string key = finding_key(verdict);
      if (std::find(result.fails.begin(), result.fails.end(), key) == result.fails.end()) result.fails.push_back(key);
    }
    failed_runs += failed;
    result.reproduced += expected;
    result.fault = result.fault || fault;
    if (failed || result.fails.empty()) result.verdicts = std::move(verdicts);
  }
  using Status = ReplayResult::Status;
  if (!context.has_reference) result.note = kNoReference;
  if (!entry.expectation) {
    result.reproduced = failed_runs;
    result.status = failed_runs > 0 ? Status::kFails : judged ? Status::kPasses : Status::kNotJudged;
  } else if (result.reproduced > 0) {
    // The section that the expectation states is the one that counts, whatever else fails beside it.
    if (entry.expectation->fault) result.fault = *entry.expectation->fault;
    result.status = result.reproduced == result.tries ? Status::kStillFails : Status::kFlaky;
  } else if (failed_runs > 0) {
    result.status = Status::kChanged;
  } else {
    result.fault = entry.expectation->fault.value_or(true);
    result.status = judged ? Status::kFixed : Status::kNotJudged;
  }
  return result;
}

ReplayResult as_replay(std::vector<Verdict> verdicts, bool has_reference) {
  ReplayResult result;
  result.tries = 1;
  for (const Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::kFail) continue;
    result.reproduced = 1;
    result.fault = result.fault || verdict.fault;
    result.fails.push_back(finding_key(verdict));
  }
  using Status = ReplayResult::Status;
  result.status = result.reproduced ? Status::kFails : any_judged(verdicts) ? Status::kPasses : Status::kNotJudged;
  if (!has_reference) result.note = kNoReference;
  result.verdicts = std::move(verdicts);
  return result;
}

std::string print_replay(const CorpusEntry& entry, const ReplayResult& result) {
  using Status = ReplayResult::Status;
  std::string out = fmt::format("{}: {}", entry.name, replay_status_name(result.status));
  switch (result.status) {
    case Status::kStillFails:
    case Status::kFlaky:
      out += fmt::format(" {} of {}: {}", result.reproduced, result.tries, expected_key(*entry.expectation));
      break;
    case Status::kChanged:
      out += fmt::format(": from {} to {}", expected_key(*entry.expectation), joined(result.fails));
      break;
    case Status::kFixed:
      out += fmt::format(" ({} runs): {}", result.tries, expected_key(*entry.expectation));
      if (!result.expected_to_fail)
        out += fmt::format(", as expected: it fails with torch {}", entry.expectation->torch.text());
      break;
    case Status::kFails:
      out += fmt::format(" {} of {}", result.reproduced, result.tries);
      break;
    case Status::kPasses:
    case Status::kNotJudged:
      break;
  }
  if (!result.expected_to_fail && is_surprise(result))
    out += fmt::format(", expected with torch {} only", entry.expectation->torch.text());
  out += '\n';
  if (!result.note.empty()) out += "  " + result.note + "\n";
  const bool all = !entry.expectation;
  for (const Verdict& verdict : result.verdicts) {
    const bool fails = verdict.status == VerdictStatus::kFail;
    if (!all && !(fails && (matches(*entry.expectation, verdict) || result.status == Status::kChanged)) &&
        result.status != Status::kNotJudged)
      continue;
    out += fmt::format("  {}: {}{}\n", verdict.oracle, verdict_status_name(verdict.status),
                       fails ? ": " + finding_key(verdict) : "");
    if (!verdict.reason.empty()) out += "    " + verdict.reason + "\n";
    if (fails)
      for (const auto& [name, value] : verdict.measures) out += fmt::format("    {}: {}\n", name, value);
  }
  return out;
}

}  // namespace aotifuzz
