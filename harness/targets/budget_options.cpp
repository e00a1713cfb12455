#include "targets/budget_options.h"

#include "core/error.h"
#include "targets/command_options.h"

namespace aotifuzz {
namespace {

using std::chrono::milliseconds;

constexpr const char* kBudgetOfPr = "10m";
/// Of what is left of a budget after the start: cases. The rest is for confirming and shrinking what they found last.
constexpr double kShareOfCases = 0.8;
/// Of a budget: from here on everything is broken off and written down.
constexpr double kShareUntilStop = 0.92;

milliseconds share(milliseconds time, double part) {
  return milliseconds(static_cast<int64_t>(static_cast<double>(time.count()) * part));
}

}  // namespace

void BudgetOption::declare(CLI::App& app) {
  CLI::Option* time = app.add_option(
      "--for", time_,
      "How long to draw cases: 20s, 10m, 8h (default: until Ctrl-C, unless --cases or --budget is given)");
  app.add_option("--budget", text_, "How long in all, with start, confirming and shrinking (default with --pr: 10m)")
      ->excludes(time);
  app.add_flag(
      "--pr", pr_,
      "For pull requests: within --budget, summary only, GitHub annotations where GitHub runs it; with --baseline "
      "or --known only what they do not have fails");
}

std::optional<milliseconds> BudgetOption::time_for_cases() {
  if (!time_.empty()) {
    if (pr_)
      throw UsageError("a check of a pull request has a budget for everything", "--pr --for " + time_, "use --budget");
    return duration_option("--for", time_);
  }
  if (pr_ && text_.empty()) text_ = kBudgetOfPr;
  if (text_.empty()) return std::nullopt;
  budget_ = duration_option("--budget", text_);
  const auto gone = std::chrono::duration_cast<milliseconds>(Clock::now() - start_);
  return std::max(milliseconds(1), share(*budget_ - gone, kShareOfCases));
}

void BudgetOption::watch(std::atomic<bool>* stop) {
  if (!budget_) return;
  watcher_ = std::jthread([this, stop](const std::stop_token& ended) {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait_until(lock, ended, start_ + share(*budget_, kShareUntilStop), [] { return false; });
    if (ended.stop_requested()) return;
    ran_out_ = true;
    *stop = true;
  });
}

}  // namespace aotifuzz
