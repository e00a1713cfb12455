#include "oracles/rejection_oracle.h"

#include <string>

#include "oracles/referee_runs.h"
#include "oracles/verdict_builder.h"

namespace aotifuzz {
namespace {

/// What the loader says when the model library only printed its reason: it names nothing.
bool is_generic(std::string_view message) { return message.empty() || message.find("API call failed") != message.npos; }

/// Which input and dimension a generated check complains about: "input_handles[0]: ... at 1, expected ...".
std::string checked_dimension(const CaseContext& context, std::string_view message) {
  const size_t open = message.find("input_handles[");
  if (open == message.npos) return "";
  size_t pos = open + 14, input = 0;
  for (; pos < message.size() && message[pos] >= '0' && message[pos] <= '9'; ++pos)
    input = input * 10 + (message[pos] - '0');
  if (input >= context.input.inputs.size()) return "";
  std::string out = context.input.inputs[input].name;
  const size_t at = message.find(" at ", pos);
  if (at != message.npos && at + 4 < message.size() && message[at + 4] >= '0' && message[at + 4] <= '9')
    out += std::string(".size(") + message[at + 4] + ")";
  return out;
}

/// A dimension of size 0 or 1, the usual suspects, when the message does not say more.
std::string small_dimension(const CaseContext& context) {
  for (const SymbolSpec& symbol : context.contract.symbols) {
    const std::optional<int64_t> value = symbol.dim.empty() ? std::nullopt : dimension_value(context.input, symbol.dim);
    if (value && *value <= 1) return symbol.dim + " = " + std::to_string(*value);
  }
  return "";
}

std::string refusal_key(const CaseContext& context, const std::string& message) {
  if (is_generic(message)) {
    const std::string dimension = small_dimension(context);
    return dimension.empty() ? "without a reason" : "at " + dimension;
  }
  const std::string dimension = checked_dimension(context, message);
  std::string text = message;
  // After the place come the numbers of this case.
  if (!dimension.empty())
    if (const size_t colon = text.find(": "); colon != text.npos) text = text.substr(colon + 2);
  if (const size_t got = text.find(", but got"); got != text.npos) text.resize(got);
  text = without_numbers(text);
  return dimension.empty() ? text : dimension + ": " + text;
}

}  // namespace

std::vector<RunRequest> RejectionOracle::plan(const CaseContext& context) const {
  if (!context.has_reference) return {};
  return {{RunKind::kReference, 0}, {RunKind::kSubject, 0}};
}

Judgement RejectionOracle::judge(const CaseContext& context, const RunRecords& runs) const {
  if (!context.has_reference) return only(skip_verdict(name(), "no reference"));
  const RunRecord* reference = runs.find(RunKind::kReference);
  const RunRecord* subject = runs.find(RunKind::kSubject);
  if (!reference) return only(skip_verdict(name(), "no run: reference"));
  if (!subject) return only(skip_verdict(name(), "no run: subject"));
  for (const RunRecord* record : {reference, subject})
    if (record->outcome.kind != OutcomeKind::kFinished && record->outcome.kind != OutcomeKind::kRejected)
      return only(skip_verdict(name(), std::string(outcome_kind_name(record->outcome.kind))));

  const bool raises = !finished(reference), refuses = !finished(subject);
  if (raises && !refuses) {
    // Outside the contract the broken condition tells faults apart; the same one makes many ops complain in many words.
    const std::string error =
        context.violations.empty() ? without_numbers(reference->outcome.message) : context.violations.front().text;
    Verdict verdict = fail_verdict(name(), VerdictClass::kMissesError, false,
                                   "the reference raises an error and the package returns a result", error);
    verdict.measures = {{"reference", reference->outcome.message}, {"package", "finished"}};
    if (!context.violations.empty())
      verdict.measures.emplace_back("outside the contract", context.violations[0].detail);
    return only(std::move(verdict));
  }
  if (!raises && refuses && context.violations.empty()) {
    const bool checks = context.input.input_checks;
    Verdict verdict = fail_verdict(name(), VerdictClass::kRejectsLegal, !checks,
                                   checks ? "the package's input checks refuse an input that is legal"
                                          : "the package refuses an input that is legal",
                                   refusal_key(context, subject->outcome.message));
    verdict.measures = {{"package", subject->outcome.message}, {"input checks", checks ? "on" : "off"}};
    if (!subject->thrown_in.empty()) verdict.measures.emplace_back("kernel", subject->thrown_in);
    return only(std::move(verdict));
  }
  return only(pass_verdict(name()));
}

}  // namespace aotifuzz
