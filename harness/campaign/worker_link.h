#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "core/flight_recorder.h"
#include "store/worker_protocol.h"

namespace aotifuzz {

/// The worker program that the user insists on for packages of `device` ("cpu", "cuda"): AOTIFUZZ_WORKER or
/// AOTIFUZZ_WORKER_CUDA; "" = none. Throws HarnessError when it cannot be executed.
std::string given_worker_program(const std::string& device = "cpu");
/// Path of the worker program for `device`: the one given, else `aotifuzz-worker` or `aotifuzz-worker-cuda` in `folder`
/// ("" = beside this program). Throws HarnessError when there is none.
std::string find_worker_program(const std::string& device = "cpu", const std::string& folder = "");

/// One started worker program, the pipes to it, its flight recorder and what it wrote to stderr. Knows messages, not
/// what they mean. Own process group, so that Ctrl-C reaches only us, and a parent that dies takes it along. Not
/// thread-safe.
class WorkerLink {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Read { kMessage, kTimeout, kClosed, kGarbage };

  /// Starts the program and returns at once; it says hello when it has loaded the package. AOTIFUZZ_TORCH_LIB names the
  /// folder of torch's libraries where the program's own search path does not. `wrapper`: a program and its arguments
  /// that starts what follows them, as compute-sanitizer does; empty = none. Throws HarnessError.
  WorkerLink(const std::string& program, const WorkerArguments& arguments,
             const std::vector<std::string>& wrapper = {});
  /// Closes the pipes, waits shortly, then kills the whole group.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  pid_t pid() const { return pid_; }
  const FlightRecorder& recorder() const { return *recorder_; }
  Read read(Clock::time_point deadline, WorkerMessage* message);
  /// False when the program is gone.
  bool send(const std::string& text);

  /// From here on last_words() is about a new case.
  void begin_case();
  /// End of what the program wrote since begin_case(), at most 2,000 bytes.
  std::string last_words() const;

  /// Kills the whole group without waiting. A process that held a device takes a while to be gone.
  void kill();
  bool ended();
  /// Waits for the program to end, killing it after `limit`. The status as waitpid gives it.
  int wait(std::chrono::milliseconds limit);

 private:
  void open_files();
  void execute(std::vector<std::string> words, int request_fd, int message_fd);
  void release();

  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
  int request_fd_ = -1, message_fd_ = -1, recorder_fd_ = -1, log_fd_ = -1;
  off_t log_mark_ = 0;  ///< where the case in flight began to write
  FlightRecorder* recorder_ = nullptr;
  std::string buffer_;
};

}  // namespace aotifuzz
