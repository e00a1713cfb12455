#include "campaign/failure_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "campaign/size_variables.h"
#include "core/contract.h"

namespace aotifuzz {
namespace {

// Every small size, and around the widths of vectors and tiles.
constexpr int64_t kEachUpTo = 34;
constexpr int64_t kFurther[] = {47, 48, 49, 63, 64, 65, 96, 100, 127, 128, 129, 200, 255, 256, 257, 512, 513};
// Neither next to those nor all alike in what a rule may ask.
constexpr int64_t kKeptBack[] = {36, 40, 45, 53, 57, 72, 80, 91, 112, 144, 150, 160, 191, 240, 320, 401};
// A rule about remainders needs so many sizes on each side; fewer agree by chance.
constexpr int kWitnesses = 3;

struct Rule {
  std::string words;
  std::function<bool(int64_t)> fails;
  bool of_remainders = false;
};

/// Simplest first, with bounds from the sizes that fail.
std::vector<Rule> rules_for(int64_t first, int64_t last) {
  std::vector<Rule> rules = {
      {"every one", [](int64_t) { return true; }},
      {fmt::format("{} alone", first), [=](int64_t n) { return n == first; }},
      {fmt::format("every one >= {}", first), [=](int64_t n) { return n >= first; }},
      {fmt::format("every one <= {}", last), [=](int64_t n) { return n <= last; }},
      {fmt::format("every one from {} to {}", first, last), [=](int64_t n) { return n >= first && n <= last; }}};
  for (const int64_t m : {2, 4, 8, 16, 32, 64}) {
    rules.push_back({fmt::format("every multiple of {}", m), [=](int64_t n) { return n % m == 0; }, true});
    rules.push_back(
        {fmt::format("every one that is no multiple of {}", m), [=](int64_t n) { return n % m != 0; }, true});
    rules.push_back({fmt::format("every multiple of {} >= {}", m, first),
                     [=](int64_t n) { return n >= first && n % m == 0; }, true});
    rules.push_back({fmt::format("every one >= {} that is no multiple of {}", first, m),
                     [=](int64_t n) { return n >= first && n % m != 0; }, true});
  }
  return rules;
}

bool has_witnesses(const std::map<int64_t, bool>& answers, int64_t first) {
  int fail = 0, pass = 0;
  for (const auto& [size, fails] : answers)
    if (size >= first) ++(fails ? fail : pass);
  return fail >= kWitnesses && pass >= kWitnesses;
}

std::set<std::string> broken_by(const Contract& contract, const Case& c) {
  std::set<std::string> out;
  for (const Violation& violation : violations(contract, c)) out.insert(violation.text);
  return out;
}

bool is_small(const Case& c, int64_t elements_max) {
  return std::all_of(c.inputs.begin(), c.inputs.end(), [&](const CaseInput& input) {
    int64_t elements = 1;
    for (const int64_t size : input.sizes) {
      if (size > 0 && elements > elements_max / size) return false;
      elements *= size;
    }
    return true;
  });
}

/// One exploration, with its budget.
class Explorer {
 public:
  Explorer(const TriageContext& context, CaseExecutor& executor, const Case& minimal, const Verdict& verdict,
           const RegionOptions& options, const std::function<bool()>& stop)
      : context_(context),
        executor_(executor),
        key_(finding_key(verdict)),
        broken_(broken_by(context.contract, minimal)),
        options_(options),
        stop_(stop),
        deadline_(std::chrono::steady_clock::now() + options.time_max) {}

  bool ended() const { return std::chrono::steady_clock::now() >= deadline_ || (stop_ && stop_()); }

  /// None: not to be tried.
  std::optional<bool> fails(const std::optional<Case>& c) {
    if (!c || !is_small(*c, options_.elements_max)) return std::nullopt;
    const std::set<std::string> broken = broken_by(context_.contract, *c);
    if (broken != broken_) return std::nullopt;
    return find_failed(judge_result(context_, *c, executor_.run(*c)), key_) != nullptr;
  }

 private:
  const TriageContext& context_;
  CaseExecutor& executor_;
  std::string key_;
  std::set<std::string> broken_;
  RegionOptions options_;
  const std::function<bool()>& stop_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

std::optional<std::string> simplest_rule(const std::map<int64_t, bool>& answers,
                                         const std::vector<int64_t>& kept_back) {
  std::map<int64_t, bool> made_from = answers;
  size_t kept = 0;
  for (const int64_t size : kept_back) kept += made_from.erase(size);
  int64_t first = -1, last = -1;
  for (const auto& [size, fails] : made_from) {
    if (!fails) continue;
    if (first < 0) first = size;
    last = size;
  }
  if (first < 0 || kept == 0) return std::nullopt;
  for (const Rule& rule : rules_for(first, last)) {
    const auto agrees = [&](const auto& answer) { return rule.fails(answer.first) == answer.second; };
    if (!std::all_of(made_from.begin(), made_from.end(), agrees)) continue;
    if (rule.of_remainders && !has_witnesses(made_from, first)) continue;
    // The simplest that explains what it was made from is put to the test; another one would only be fitted to it.
    if (!std::all_of(answers.begin(), answers.end(), agrees)) return std::nullopt;
    return rule.words;
  }
  return std::nullopt;
}

std::vector<std::string> explore_region(const TriageContext& context, CaseExecutor& executor, const Case& minimal,
                                        const Verdict& verdict, const RegionOptions& options,
                                        const std::function<bool()>& stop) {
  Explorer explorer(context, executor, minimal, verdict, options, stop);
  std::set<int64_t> sizes(std::begin(kFurther), std::end(kFurther));
  for (int64_t size = 0; size <= kEachUpTo; ++size) sizes.insert(size);
  const std::vector<int64_t> kept_back(std::begin(kKeptBack), std::end(kKeptBack));
  sizes.insert(kept_back.begin(), kept_back.end());

  std::vector<std::string> lines;
  const SizeVariables variables(minimal, context.contract);
  for (size_t v = 0; v < variables.variables().size() && v < options.dimensions_max; ++v) {
    const SizeVariables::Variable& variable = variables.variables()[v];
    std::map<int64_t, bool> answers;
    for (const int64_t size : sizes) {
      if (explorer.ended()) return lines;
      if (const auto fails = explorer.fails(variables.with({{v, size}}))) answers[size] = *fails;
    }
    // Memory that is never written holds what earlier runs left: in another order such answers change.
    bool steady = answers.contains(variable.value) && answers.at(variable.value);
    for (auto answer = answers.rbegin(); answer != answers.rend() && steady; ++answer) {
      if (explorer.ended()) return lines;
      steady = explorer.fails(variables.with({{v, answer->first}})) == answer->second;
    }
    // The reduction saw the next smaller one pass, or it would have gone there.
    const auto below = answers.find(variable.value - 1);
    if (!steady || (variable.value > variable.least && below != answers.end() && below->second)) continue;
    const auto rule = simplest_rule(answers, kept_back);
    if (!rule) continue;
    const auto failing =
        std::count_if(answers.begin(), answers.end(), [](const auto& answer) { return answer.second; });
    lines.push_back(fmt::format("{}: of {} sizes tried up to {} it fails for {} ({}), and for no other", variable.name,
                                answers.size(), answers.rbegin()->first, *rule, failing));
  }
  return lines;
}

}  // namespace aotifuzz
