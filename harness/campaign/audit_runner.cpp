#include "campaign/audit_runner.h"

#include <utility>

namespace aotifuzz {

AuditRunner::AuditRunner(const TriageContext& context, CaseExecutor& executor, ChecksMode judged,
                         Clock::time_point deadline, std::function<void(const AuditProgress&)> progress,
                         std::function<bool()> stop)
    : context_(context),
      executor_(executor),
      judged_(judged),
      deadline_(deadline),
      progress_(std::move(progress)),
      stop_(std::move(stop)) {}

bool AuditRunner::ended() { return Clock::now() >= deadline_ || (stop_ && stop_()); }

std::optional<AuditAnswer> AuditRunner::run(const Case& c, const std::string& item, std::string label) {
  if (ended()) return std::nullopt;
  if (progress_) {
    const auto seconds = [&](Clock::time_point at) { return std::chrono::duration<double>(at - begun_).count(); };
    progress_({cases_, seconds(Clock::now()), seconds(deadline_), item});
  }
  AuditAnswer out;
  out.input = c;
  out.label = std::move(label);
  out.broken = violations(context_.contract, c);
  for (const ChecksMode mode : {ChecksMode::kOff, ChecksMode::kOn}) {
    AuditTrial& trial = mode == ChecksMode::kOff ? out.off : out.on;
    const Clock::time_point before = Clock::now();
    trial = try_case(context_, executor_, c, mode, mode == judged_ ? 2 : 1);
    spent_ += Clock::now() - before;
    ++cases_;
    if (trial.answer == AuditTrial::Answer::kNotJudged) ++not_judged_[trial.reason];
  }
  return out;
}

}  // namespace aotifuzz
