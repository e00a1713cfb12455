#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/audit_trial.h"

namespace aotifuzz {

/// One case, and how the package took it with input checks off and on.
struct AuditAnswer {
  Case input;
  AuditTrial off, on;
  std::vector<Violation> broken;  ///< conditions of the contract; empty: inside
  std::string label;

  const AuditTrial& in(ChecksMode mode) const { return mode == ChecksMode::kOff ? off : on; }
};

struct AuditProgress {
  int cases = 0;
  double seconds = 0, limit = 0;
  std::string doing;  ///< item being tried
};

/// Runs cases in both modes until its time is over; counts what was run and what nobody could judge.
class AuditRunner {
 public:
  using Clock = std::chrono::steady_clock;

  /// `judged`: the mode that harm is looked for in; the other one is asked only whether it refuses, by a single run.
  AuditRunner(const TriageContext& context, CaseExecutor& executor, ChecksMode judged, Clock::time_point deadline,
              std::function<void(const AuditProgress&)> progress, std::function<bool()> stop);

  /// None when time is over.
  std::optional<AuditAnswer> run(const Case& c, const std::string& item, std::string label);
  bool ended();
  Clock::time_point deadline() const { return deadline_; }
  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  /// What `runs` confirming runs take, each in a fresh process, the last with every kernel judged: about.
  std::chrono::duration<double> confirming(int runs) const {
    constexpr double kCases = 3;  // that one of them costs
    return cases_ == 0 ? spent_ : spent_ / cases_ * kCases * runs;
  }

  int cases() const { return cases_; }
  const std::map<std::string, int>& not_judged() const { return not_judged_; }
  const TriageContext& context() const { return context_; }
  CaseExecutor& executor() { return executor_; }

 private:
  const TriageContext& context_;
  CaseExecutor& executor_;
  ChecksMode judged_;
  Clock::time_point begun_ = Clock::now(), deadline_;
  std::chrono::duration<double> spent_{0};
  std::function<void(const AuditProgress&)> progress_;
  std::function<bool()> stop_;
  int cases_ = 0;
  std::map<std::string, int> not_judged_;
};

}  // namespace aotifuzz
