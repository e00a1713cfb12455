#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "campaign/case_executor.h"
#include "core/flight_recorder.h"
#include "store/worker_protocol.h"

namespace aotifuzz {

struct WorkerOptions {
  std::string program;  ///< path of aotifuzz-worker; "" = find_worker_program()
  WorkerArguments arguments;
  std::chrono::milliseconds case_timeout{10'000};
  std::chrono::milliseconds start_timeout{300'000};  ///< loading a large package from a cold disk takes minutes
};

/// AOTIFUZZ_WORKER, or `aotifuzz-worker` beside this program. Throws HarnessError when there is none.
std::string find_worker_program();

/// One worker: an exec'd fork server (store/worker_protocol.h) that survives its children. The death of a child costs a
/// fork; the death of the server costs a start, and after kLossesMax in a row without a finished case it is the
/// world that is wrong. Starts with the first case or start(). Own process group, so that Ctrl-C reaches only us, and a
/// parent that dies takes its worker along. Not thread-safe.
class WorkerProcess final : public CaseExecutor {
 public:
  static constexpr int kLossesMax = 3;

  explicit WorkerProcess(WorkerOptions options);
  ~WorkerProcess() override;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Starts the program and waits for its hello. Throws HarnessError with the worker's own words when it cannot.
  const WorkerHello& start();
  CaseResult run(const Case& c) override;
  void renew() override;
  void set_patience(double factor) override { patience_ = factor; }

  struct Counters {
    uint64_t starts = 0;         ///< of the program
    uint64_t children = 0;       ///< processes that served cases
    uint64_t deaths = 0;         ///< of children, planned ends excluded
    uint64_t losses = 0;         ///< of the program, or garbage from it
    double recovery_us_max = 0;  ///< from the death of a child to the next one being ready
  };
  const Counters& counters() const { return counters_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Read { kMessage, kTimeout, kClosed, kGarbage };

  void spawn();
  void stop();
  void await_ready();
  Read read_message(Clock::time_point deadline, WorkerMessage* message);
  bool send(const std::string& text);
  CaseResult run_once(const std::string& case_text);
  WorkerDeath recorded(WorkerDeath::Kind kind) const;
  Clock::time_point case_deadline() const;
  CaseResult lost(const std::string& why);
  std::string last_words() const;
  [[noreturn]] void fail_start(const std::string& why);

  WorkerOptions options_;
  pid_t server_ = -1;
  pid_t child_ = -1;  ///< serves cases; -1 = none is ready
  bool fresh_ = true;
  int request_fd_ = -1, message_fd_ = -1, recorder_fd_ = -1, log_fd_ = -1;
  off_t log_mark_ = 0;  ///< where the case in flight began to write
  FlightRecorder* recorder_ = nullptr;
  std::string buffer_;
  WorkerHello hello_;
  uint64_t next_id_ = 1;
  int losses_in_a_row_ = 0;
  double patience_ = 1;
  Counters counters_;
};

}  // namespace aotifuzz
