#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "campaign/triage.h"
#include "core/reducer_pass.h"

namespace aotifuzz {

struct ReducerOptions {
  int runs_max = 200;                          ///< of candidates
  std::chrono::milliseconds time_max{60'000};  ///< a hang costs the whole limit for each candidate that still hangs
  int attempts = 1;                            ///< tries per candidate: more for what does not fail each time
  std::function<bool(const Case&)> keeps;      ///< what a candidate must keep besides its finding; null: nothing
};

struct Reduction {
  Case minimal;
  Verdict verdict;                       ///< of `minimal`, as last seen
  bool one_minimal = false;              ///< no single further step of any pass keeps the key
  int runs = 0;                          ///< of cases in the executor
  std::vector<std::string> certificate;  ///< "x.size(0): 16 fails, 15 passes"
};

/// The search for the simplest case with the same finding key. Deterministic: the same case, passes and answers give
/// the same reduction. Legal cases stay legal, others break no further condition; cases seen before are not run again.
class Reducer {
 public:
  Reducer(const TriageContext& context, CaseExecutor& executor, ReducerOptions options);

  /// `c` is known to give `verdict`. `stop` is asked before each run: true ends the search with what is found so far.
  Reduction reduce(const Case& c, const Verdict& verdict, const std::function<bool()>& stop = {});

 private:
  bool exhausted() const;
  bool may_try(const Case& candidate) const;
  /// The verdict when the candidate still fails in the same way.
  std::optional<Verdict> consider(const Case& candidate);
  void certify();

  const TriageContext& context_;
  CaseExecutor& executor_;
  ReducerOptions options_;
  std::vector<std::unique_ptr<ReducerPass>> passes_;

  std::string key_;
  std::vector<std::string> broken_;                     ///< conditions that the first case breaks
  std::map<std::string, std::optional<Verdict>> seen_;  ///< by case text
  Reduction best_;
  bool out_of_budget_ = false;
  std::function<bool()> stop_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace aotifuzz
