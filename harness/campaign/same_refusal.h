#pragma once

#include <string>

#include "campaign/case_executor.h"

namespace aotifuzz {

/// Runs cases in another executor, and adds a failed verdict to those that the package refuses with an error of the
/// same kind: so that the reducer, which keeps verdicts, finds the smallest input that is refused so, whether or not
/// the refusal is right.
class SameRefusal final : public CaseExecutor {
 public:
  /// `error` as clean_error() has it.
  SameRefusal(CaseExecutor& executor, std::string error);
  CaseResult run(const Case& c) override;
  void renew() override { executor_.renew(); }
  void set_patience(double factor) override { executor_.set_patience(factor); }
  void set_careful(bool careful) override { executor_.set_careful(careful); }

 private:
  CaseExecutor& executor_;
  std::string error_;
};

/// The package's own words when it refused the case; "" = it did not.
std::string refusal_of(const CaseResult& result);
/// Do two refusals say the same but for numbers? The checked expression of an index assertion counts as it is.
bool same_refusal(const std::string& a, const std::string& b);

}  // namespace aotifuzz
