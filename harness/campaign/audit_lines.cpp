#include "campaign/audit_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "package/assumed_sizes.h"
#include "package/input_guard.h"
#include "package/wrapper_reader.h"

namespace aotifuzz {
namespace {

using Answer = AuditTrial::Answer;

size_t count(const std::vector<AuditAnswer>& answers, const std::function<bool(const AuditAnswer&)>& holds) {
  return static_cast<size_t>(std::count_if(answers.begin(), answers.end(), holds));
}

bool answered(const AuditAnswer& answer, ChecksMode mode, Answer what) { return answer.in(mode).answer == what; }

std::string share(size_t some, size_t all, const char* word) {
  if (some == 0) return fmt::format("not {}", word);
  return some == all ? word : fmt::format("{} {} of {}", word, some, all);
}

std::string refusals(const std::vector<AuditAnswer>& answers, ChecksMode mode) {
  const size_t judged =
      answers.size() - count(answers, [&](const auto& a) { return answered(a, mode, Answer::kNotJudged); });
  if (judged == 0) return "not judged";
  return share(count(answers, [&](const auto& a) { return answered(a, mode, Answer::kRefused); }), judged, "refused");
}

/// Worst first, then smallest; what shows with input checks too before what they stop.
std::vector<AuditAnswer> harmful(const std::vector<AuditAnswer>& answers, ChecksMode mode) {
  std::vector<AuditAnswer> out;
  for (const AuditAnswer& answer : answers)
    if (answered(answer, mode, Answer::kHarm)) out.push_back(answer);
  const auto elements = [](const AuditAnswer& answer) {
    int64_t sum = 0;
    for (const CaseInput& input : answer.input.inputs)
      if (input.kind == CaseInput::Kind::kTensor) sum += input.numel();
    return sum;
  };
  std::stable_sort(out.begin(), out.end(), [&](const AuditAnswer& a, const AuditAnswer& b) {
    const int left = finding_rank(*a.in(mode).harm), right = finding_rank(*b.in(mode).harm);
    return left != right ? left < right : elements(a) < elements(b);
  });
  return out;
}

std::string labels(const std::vector<AuditAnswer>& answers) {
  constexpr size_t kMost = 4;
  std::vector<std::string> seen;
  for (const AuditAnswer& answer : answers)
    if (std::find(seen.begin(), seen.end(), answer.label) == seen.end()) seen.push_back(answer.label);
  std::string out;
  for (size_t i = 0; i < seen.size() && i < kMost; ++i) out += (out.empty() ? "" : "; ") + seen[i];
  if (seen.size() > kMost) out += fmt::format("; and {} more", seen.size() - kMost);
  return out;
}

AuditLine unsafe_line(const std::vector<AuditAnswer>& bad, ChecksMode mode, bool inside) {
  AuditLine line;
  line.word = AuditWord::kUnsafe;
  line.inside = inside;
  line.what = labels(bad);
  line.refused_with_checks = mode == ChecksMode::kOff && std::all_of(bad.begin(), bad.end(), [](const auto& a) {
                               return a.on.answer == Answer::kRefused;
                             });
  return line;
}

/// There the reference is no judge: it is the program that was traced.
bool is_beyond_the_trace(const Contract& contract, const AuditAnswer& answer) {
  return std::any_of(answer.broken.begin(), answer.broken.end(), [&](const Violation& broken) {
    return std::any_of(contract.conditions.begin(), contract.conditions.end(),
                       [&](const Condition& condition) { return condition.traced && condition.text == broken.text; });
  });
}

void add_unjudged(const PackageInfo& info, const std::vector<AuditAnswer>& answers, ChecksMode mode, AuditItem* item) {
  std::vector<AuditAnswer> accepted;
  for (const AuditAnswer& answer : answers)
    if (!answer.broken.empty() && answered(answer, mode, Answer::kRight)) accepted.push_back(answer);
  if (accepted.empty() || !is_beyond_the_trace(info.contract, accepted.front())) return;
  const Violation& broken = accepted.front().broken.front();
  AuditLine line = unsafe_line(accepted, mode, false);
  line.word = AuditWord::kUnjudged;
  line.input = accepted.front().input;
  line.guard = guard_against(info.contract, broken);
  item->lines.push_back(std::move(line));
}

/// Every check with its text in the program's names: the wrapper has names of its own, and positions decide.
std::vector<std::pair<InputCheck, std::string>> named_checks(const PackageInfo& info) {
  std::vector<std::pair<InputCheck, std::string>> out;
  if (!info.compiled) return out;
  std::vector<std::string> tensors;
  for (const InputSpec& input : info.contract.inputs)
    if (input.kind == CaseInput::Kind::kTensor) tensors.push_back(input.name);
  for (const InputCheck& check : info.compiled->checks) {
    if (check.kind == InputCheck::Kind::kLayer2) continue;
    const size_t i = static_cast<size_t>(check.input);
    out.emplace_back(check, i < tensors.size() ? check_text(check, tensors[i]) : check.text);
  }
  return out;
}

std::string declared_range(const AuditAxis& axis) {
  return fmt::format("{}..{}", axis.declared_min, axis.declared_max ? std::to_string(*axis.declared_max) : "unbounded");
}

/// The compiled checks on sizes that refuse one of these values.
std::string refusing_checks(const PackageInfo& info, const AuditAxis& axis,
                            const std::function<bool(const AuditAnswer&)>& refused) {
  std::string out;
  for (const auto& [check, text] : named_checks(info)) {
    if (!text.starts_with(axis.name + " ")) continue;
    const bool fails = std::any_of(axis.answers.begin(), axis.answers.end(), [&, c = &check](const auto& one) {
      if (!refused(one.second)) return false;
      return (c->kind == InputCheck::Kind::kMinSize && one.first < c->value) ||
             (c->kind == InputCheck::Kind::kMaxSize && one.first > c->value) ||
             (c->kind == InputCheck::Kind::kStaticSize && one.first != c->value);
    });
    if (fails) out += (out.empty() ? "" : ", ") + text;
  }
  return out;
}

void add_too_strict(const PackageInfo& info, const AuditAxis& axis, ChecksMode mode, AuditItem* item) {
  const auto refused = [&](const AuditAnswer& answer) {
    if (!answer.broken.empty() || !answer.off.reference_accepts || !answered(answer, mode, Answer::kRefused))
      return false;
    return mode == ChecksMode::kOff || answer.off.answer != Answer::kRefused;
  };
  const std::string values = value_ranges(axis, refused);
  if (values == "none") return;
  AuditLine line;
  line.word = AuditWord::kTooStrict;
  for (const auto& [value, answer] : axis.answers)
    if (line.input.inputs.empty() && refused(answer)) line.input = answer.input;
  line.inside = true;
  line.what = mode == ChecksMode::kOff
                  ? fmt::format("{} = {}: legal, and refused whatever the checks are", axis.name, values)
                  : fmt::format("{} = {}: legal, and refused with input checks on", axis.name, values);
  if (const std::string checks = refusing_checks(info, axis, refused); mode == ChecksMode::kOn && !checks.empty())
    line.what += " by " + checks;
  item->lines.push_back(std::move(line));
}

void add_unreached(const Contract& contract, const AuditAxis& axis, AuditItem* item) {
  AuditLine line;
  line.word = AuditWord::kUnreached;
  line.inside = true;
  const std::string raises = value_ranges(axis, [](const AuditAnswer& answer) {
    return answer.broken.empty() && !answer.off.reference_accepts && answer.off.answer == Answer::kRefused;
  });
  if (raises != "none") {
    line.what = fmt::format("{} = {}: declared, and {} with the values tried", axis.name, raises,
                            contract.declared ? "the reference itself raises" : "the package refuses them");
    item->lines.push_back(line);
  }
  const int64_t last = axis.answers.empty() ? -1 : axis.answers.rbegin()->first;
  if (axis.declared_max && last < *axis.declared_max) {
    line.what =
        fmt::format("{} = {}..{}: declared, and not tried ({})", axis.name, std::max(last + 1, axis.declared_min),
                    *axis.declared_max, axis.cut_short ? "no time left" : "too many elements");
    item->lines.push_back(line);
  }
}

/// What a case inside the contract must keep to be about its row: where the input lies.
std::function<bool(const Case&)> placement_kept(const Contract& contract, const AuditEvidence& evidence,
                                                const Case& first) {
  for (size_t i = 0; i < contract.inputs.size() && i < first.inputs.size(); ++i) {
    if (!evidence.item.starts_with(contract.inputs[i].name + ": ")) continue;
    if (evidence.subject == AuditSubject::kIndexing)
      return [i](const Case& c) { return c.inputs[i].storage_elements() > std::numeric_limits<int32_t>::max(); };
    if (evidence.subject == AuditSubject::kPlacement)
      return
          [i, offset = first.inputs[i].offset != 0, misaligned = first.inputs[i].misalign_bytes != 0](const Case& c) {
            return (c.inputs[i].offset != 0) == offset && (c.inputs[i].misalign_bytes != 0) == misaligned;
          };
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> checks_of(const PackageInfo& info, const std::string& item) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& text, bool exact) {
    const bool about = exact ? text == item : text == item || text.starts_with(item + " ");
    if (about && std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
  };
  for (const auto& [check, text] : named_checks(info)) add(text, false);
  for (const SizeAssumption& one : size_assumptions(info)) add(one.text(), true);
  return out;
}

AuditDraft draft_item(const PackageInfo& info, const AuditEvidence& evidence, ChecksMode mode) {
  AuditDraft out;
  AuditItem& item = out.item;
  const std::vector<AuditAnswer>& answers = evidence.answers;
  const bool inside = std::all_of(answers.begin(), answers.end(), [](const auto& a) { return a.broken.empty(); });
  item.subject = evidence.subject;
  item.name = evidence.item;
  item.cases = static_cast<int>(2 * answers.size());
  item.declared = inside ? "free" : "required";
  item.enforced_off = refusals(answers, ChecksMode::kOff);
  item.enforced_on = refusals(answers, ChecksMode::kOn);
  const size_t beyond = count(answers, [&](const auto& a) {
    return answered(a, mode, Answer::kRight) && is_beyond_the_trace(info.contract, a);
  });
  const size_t right = count(answers, [&](const auto& a) { return answered(a, mode, Answer::kRight); }) - beyond;
  const size_t harm = count(answers, [&](const auto& a) { return answered(a, mode, Answer::kHarm); });
  item.safe = right + harm == 0 ? (beyond == 0 ? "-" : "not known beyond the trace")
                                : fmt::format("right in {} of {}", right, right + harm);
  for (const std::string& check : checks_of(info, item.name)) item.enforced_on += fmt::format(" ({})", check);
  const std::vector<AuditAnswer> bad = harmful(answers, mode);
  if (evidence.subject == AuditSubject::kValues) item.declared = "not stated";
  if (evidence.subject == AuditSubject::kIndexing) {
    const bool strided =
        std::any_of(answers.begin(), answers.end(), [](const auto& a) { return a.label.starts_with("stride("); });
    item.declared = strided ? "free" : "offset free, strides fixed";
  }
  if (!bad.empty()) {
    AuditSuspicion suspicion{unsafe_line(bad, mode, inside), bad,
                             placement_kept(info.contract, evidence, bad.front().input)};
    if (evidence.subject == AuditSubject::kValues) suspicion.line.guard = guard_of_index(info.contract, evidence.item);
    if (!bad.front().broken.empty()) suspicion.line.guard = guard_against(info.contract, bad.front().broken.front());
    out.suspicions.push_back(std::move(suspicion));
  }
  add_unjudged(info, answers, mode, &item);
  for (const ChecksMode each : {ChecksMode::kOff, ChecksMode::kOn}) {
    std::vector<AuditAnswer> refused;
    for (const AuditAnswer& answer : answers)
      if (answer.broken.empty() && answer.off.reference_accepts && answered(answer, each, Answer::kRefused) &&
          (each == ChecksMode::kOff || answer.off.answer != Answer::kRefused))
        refused.push_back(answer);
    if (refused.empty()) continue;
    AuditLine line;
    line.word = AuditWord::kTooStrict;
    line.input = refused.front().input;
    line.inside = true;
    line.what = fmt::format("{}: legal, and refused {}", labels(refused),
                            each == ChecksMode::kOff ? "whatever the checks are" : "with input checks on");
    item.lines.push_back(std::move(line));
  }
  return out;
}

AuditDraft draft_axis(const PackageInfo& info, const AuditAxis& axis, ChecksMode mode, bool base_fails) {
  AuditDraft out;
  AuditItem& item = out.item;
  item.subject = AuditSubject::kSize;
  item.name = axis.name;
  item.cases = static_cast<int>(2 * axis.answers.size());
  item.declared = declared_range(axis);
  const std::vector<std::string> checks = checks_of(info, axis.name);
  const auto refused = [&](ChecksMode each) {
    const std::string values = value_ranges(axis, [&](const auto& a) { return answered(a, each, Answer::kRefused); });
    return values == "none" ? std::string("refuses none") : "refuses " + values;
  };
  item.enforced_off = refused(ChecksMode::kOff);
  item.enforced_on = refused(ChecksMode::kOn);
  for (const std::string& check : checks) item.enforced_on += fmt::format(" ({})", check);
  item.safe = value_ranges(
      axis, [&](const auto& a) { return answered(a, mode, Answer::kRight) && !is_beyond_the_trace(info.contract, a); });
  if (axis.answers.empty()) {
    item.enforced_off = item.enforced_on = item.safe = "not tried";
    AuditLine line;
    line.word = AuditWord::kUnreached;
    line.inside = true;
    line.what = axis.name + ": nothing was tried";
    item.lines.push_back(std::move(line));
  }
  std::map<int64_t, bool> fails;
  std::vector<AuditAnswer> inside;
  for (const auto& [value, answer] : axis.answers) {
    if (!answer.broken.empty()) continue;
    const Answer what = answer.in(mode).answer;
    if (what == Answer::kHarm || what == Answer::kRight) fails[value] = what == Answer::kHarm;
    if (what == Answer::kHarm) inside.push_back(answer);
  }
  const bool some_pass = std::any_of(fails.begin(), fails.end(), [](const auto& one) { return !one.second; });
  if (!inside.empty() && (some_pass || !base_fails)) {
    const std::vector<AuditAnswer> bad = harmful(inside, mode);
    std::set<int64_t> failing;
    for (const auto& [value, answer] : axis.answers)
      if (answer.broken.empty() && answered(answer, mode, Answer::kHarm)) failing.insert(value);
    AuditSuspicion suspicion{unsafe_line(bad, mode, true), bad, [failing, name = axis.name](const Case& c) {
                               const std::optional<int64_t> value = dimension_value(c, name);
                               return value && failing.contains(*value);
                             }};
    suspicion.line.what = axis.name + " = " + value_ranges(axis, [&](const auto& a) {
                            return a.broken.empty() && answered(a, mode, Answer::kHarm);
                          });
    if (const auto condition = guard_of_values(axis.name, fails))
      suspicion.line.guard = guard_of_condition(info.contract, *condition);
    else
      suspicion.line.guard.note = "no condition on this size separates what is safe";
    out.suspicions.push_back(std::move(suspicion));
  }
  add_too_strict(info, axis, ChecksMode::kOff, &item);
  add_too_strict(info, axis, ChecksMode::kOn, &item);
  add_unreached(info.contract, axis, &item);
  return out;
}

}  // namespace aotifuzz
