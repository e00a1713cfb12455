#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace aotifuzz {

/// `--for T`, `--budget T`, `--pr`: how long a campaign takes. --for is the time for cases, and shrinking comes on top;
/// --budget is the time for everything from the start of the program on, for whoever pays by the minute. --pr is what a
/// check of a pull request wants: a budget, and the summary and annotations alone.
class BudgetOption {
 public:
  void declare(CLI::App& app);
  bool for_pull_request() const { return pr_; }
  /// Time for cases, counted from now; none: no limit. Throws UsageError.
  std::optional<std::chrono::milliseconds> time_for_cases();
  /// Sets `stop` shortly before the budget is over, whatever is being done then. Nothing without a budget. Ends when
  /// this object does.
  void watch(std::atomic<bool>* stop);
  /// Did it?
  bool ran_out() const { return ran_out_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
  std::string time_, text_;
  bool pr_ = false;
  std::optional<std::chrono::milliseconds> budget_;
  std::atomic<bool> ran_out_{false};
  std::mutex mutex_;
  std::condition_variable_any done_;
  std::jthread watcher_;  ///< last: it uses the others
};

}  // namespace aotifuzz
