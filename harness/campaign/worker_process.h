#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "campaign/case_executor.h"
#include "campaign/worker_link.h"

namespace aotifuzz {

struct WorkerOptions {
  std::string program;  ///< path of the worker program; "" = find_worker_program() for the arguments' device
  WorkerArguments arguments;
  std::chrono::milliseconds case_timeout{10'000};
  std::chrono::milliseconds start_timeout{300'000};  ///< loading a large package from a cold disk takes minutes
  /// More than 0: the program serves cases itself, and this many more are kept loaded. Else it is a fork server.
  int spares = 0;
  bool serves_itself = false;        ///< also without spares
  std::vector<std::string> wrapper;  ///< program and arguments that the worker is started through; "" = none
};

/// One worker in the eyes of whoever runs cases. Two kinds of program (store/worker_protocol.h):
///  - a fork server survives its children. The death of a child costs a fork, that of the server a start;
///  - a program that must not fork serves cases itself. Its death costs a spare, loaded in advance; another is
///    started at once.
/// After kLossesMax losses of the program in a row without a finished case it is the world that is wrong. Starts with
/// the first case or start(). Not thread-safe.
class WorkerProcess final : public CaseExecutor {
 public:
  static constexpr int kLossesMax = 3;
  static constexpr int kKilledStartsMax = 10;  ///< by somebody else, in a row

  explicit WorkerProcess(WorkerOptions options);
  ~WorkerProcess() override;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Starts the program and waits for its hello. Throws HarnessError with the worker's own words when it cannot.
  const WorkerHello& start();
  CaseResult run(const Case& c) override;
  /// Asks the program to end and waits for it; kills it after `limit`.
  void end(std::chrono::milliseconds limit);
  void renew() override;
  void set_patience(double factor) override { patience_ = factor; }
  void set_careful(bool careful) override { careful_ = careful; }

  struct Counters {
    uint64_t starts = 0;         ///< of the program, spares included
    uint64_t children = 0;       ///< processes that served cases
    uint64_t deaths = 0;         ///< of these, planned ends excluded
    uint64_t losses = 0;         ///< of a fork server, or garbage from the program
    double recovery_us_max = 0;  ///< from the death of a process to the next one being ready
  };
  const Counters& counters() const { return counters_; }

 private:
  using Clock = WorkerLink::Clock;
  using Read = WorkerLink::Read;

  bool on_device() const { return serves_itself() || !options_.arguments.device.empty(); }
  bool serves_itself() const { return options_.serves_itself || options_.spares > 0; }
  std::unique_ptr<WorkerLink> launch();
  bool greet();
  bool was_killed();
  void await_ready();
  void note_ready(pid_t child);
  void replace();
  void refill();
  void drop();
  CaseResult run_once(const std::string& case_text);
  WorkerMessage ending_of_program();
  WorkerDeath recorded(const WorkerMessage& ending, bool killed) const;
  Clock::time_point case_deadline() const;
  CaseResult lost(const std::string& why);
  std::string where(const std::string& words) const;
  [[noreturn]] void fail_start(const std::string& why);

  WorkerOptions options_;
  std::unique_ptr<WorkerLink> link_;
  std::deque<std::unique_ptr<WorkerLink>> spares_;    ///< oldest first
  std::vector<std::unique_ptr<WorkerLink>> retired_;  ///< killed, perhaps not gone yet
  int spares_wanted_ = 0;
  pid_t child_ = -1;  ///< serves cases; -1 = none is ready
  bool fresh_ = true;
  bool careful_ = true;
  WorkerHello hello_;
  uint64_t next_id_ = 1;
  int losses_in_a_row_ = 0;
  double patience_ = 1;
  Counters counters_;
};

}  // namespace aotifuzz
