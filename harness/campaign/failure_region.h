#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "campaign/triage.h"

namespace aotifuzz {

struct RegionOptions {
  size_t dimensions_max = 4;
  std::chrono::milliseconds time_max{5'000};
  int64_t elements_max = 1 << 18;  ///< of one input: larger ones cost more than they tell
};

/// In which sizes a finding shows: each independent size of the minimal case is varied alone, the others stay. One line
/// for each size whose answers a simple rule explains, in the sizes that the rule was made from and in others that were
/// kept back: "x.size(0): of 47 sizes tried up to 513 it fails for every one >= 16 that is no multiple of 16 (24), and
/// for no other". A size without such a rule, or whose answers change when they are
/// asked for again in another order, has no line. Cases that break conditions which the minimal one keeps are
/// not tried. `stop` is asked before each run.
std::vector<std::string> explore_region(const TriageContext& context, CaseExecutor& executor, const Case& minimal,
                                        const Verdict& verdict, const RegionOptions& options,
                                        const std::function<bool()>& stop = {});

/// The simplest rule for which sizes fail, in words ("every one >= 16"), or none; `answers`: size to whether it fails.
/// Of the sizes in `kept_back` it is made without, and it must hold for them too.
std::optional<std::string> simplest_rule(const std::map<int64_t, bool>& answers, const std::vector<int64_t>& kept_back);

}  // namespace aotifuzz
