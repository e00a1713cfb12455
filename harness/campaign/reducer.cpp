#include "campaign/reducer.h"

#include <algorithm>
#include <utility>

#include "campaign/case_complexity.h"
#include "campaign/passes/catalog.h"
#include "campaign/size_variables.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

std::vector<std::string> condition_texts(const Contract& contract, const Case& c) {
  std::vector<std::string> out;
  for (const Violation& violation : violations(contract, c)) out.push_back(violation.text);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Reducer::Reducer(const TriageContext& context, CaseExecutor& executor, ReducerOptions options)
    : context_(context), executor_(executor), options_(std::move(options)), passes_(make_passes()) {}

bool Reducer::exhausted() const {
  return best_.runs >= options_.runs_max || std::chrono::steady_clock::now() >= deadline_ || (stop_ && stop_());
}

bool Reducer::may_try(const Case& candidate) const {
  if (case_complexity(candidate) >= case_complexity(best_.minimal)) return false;
  if (options_.keeps && !options_.keeps(candidate)) return false;
  const std::vector<std::string> broken = condition_texts(context_.contract, candidate);
  return broken.empty() == broken_.empty() &&
         std::includes(broken_.begin(), broken_.end(), broken.begin(), broken.end());
}

std::optional<Verdict> Reducer::consider(const Case& candidate) {
  const std::string text = print_case(candidate);
  if (const auto it = seen_.find(text); it != seen_.end()) return it->second;
  std::optional<Verdict> found;
  // What the format refuses (a view past its storage) cannot be a reproducer.
  if (parse_case(text)) {
    for (int attempt = 0; attempt < options_.attempts && !found; ++attempt) {
      if (exhausted()) {
        out_of_budget_ = true;
        return std::nullopt;
      }
      ++best_.runs;
      const std::vector<Verdict> verdicts = judge_result(context_, candidate, executor_.run(candidate));
      if (const Verdict* verdict = find_failed(verdicts, key_)) found = *verdict;
    }
  }
  seen_[text] = found;
  return found;
}

Reduction Reducer::reduce(const Case& c, const Verdict& verdict, const std::function<bool()>& stop) {
  key_ = finding_key(verdict);
  broken_ = condition_texts(context_.contract, c);
  seen_.clear();
  best_ = {c, verdict, false, 0, {}};
  out_of_budget_ = false;
  stop_ = stop;
  deadline_ = std::chrono::steady_clock::now() + options_.time_max;

  bool changed = true;
  while (changed && !out_of_budget_) {
    changed = false;
    for (const auto& pass : passes_) {
      for (bool again = true; again && !out_of_budget_;) {
        again = false;
        for (const Case& candidate : pass->propose(best_.minimal, context_.contract)) {
          if (!may_try(candidate)) continue;
          auto found = consider(candidate);
          if (out_of_budget_) break;
          if (!found) continue;
          best_.minimal = candidate;
          best_.verdict = std::move(*found);
          changed = again = true;
          break;
        }
      }
      if (out_of_budget_) break;
    }
  }
  best_.one_minimal = !out_of_budget_;
  certify();
  return std::move(best_);
}

void Reducer::certify() {
  const SizeVariables sizes(best_.minimal, context_.contract);
  for (size_t v = 0; v < sizes.variables().size(); ++v) {
    const SizeVariables::Variable& variable = sizes.variables()[v];
    // A derived dimension (2*s) is named by what the case says, so its value is read from the case.
    const auto value_in = [&](const Case& c) {
      return std::to_string(dimension_value(c, variable.name).value_or(variable.value));
    };
    std::string line = variable.name + ": " + value_in(best_.minimal) + " fails";
    if (variable.value <= variable.least) {
      best_.certificate.push_back(line + ", the least there is");
      continue;
    }
    const auto below = sizes.with({{v, variable.value - 1}});
    if (!below) continue;
    const std::string next = value_in(*below);
    const auto it = seen_.find(print_case(*below));
    if (it != seen_.end() && it->second) continue;  // fails too, and is not simpler
    if (it != seen_.end())
      line += ", " + next + " passes";
    else if (!may_try(*below))
      line += broken_.empty() ? ", " + next + " is outside the contract" : ", " + next + " breaks other conditions";
    else
      line += ", " + next + " was not tried";
    best_.certificate.push_back(line);
  }
}

}  // namespace aotifuzz
