#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/flight_recorder.h"
#include "worker/request_channel.h"

namespace aotifuzz {

/// A fork server for what takes long to get ready and must get ready after the fork, as a CUDA context must: beside the
/// process that serves, others have loaded everything and wait. A death costs no start as long as one is ready.
///
/// Ends with the parent: children are killed when the server is. Not thread-safe. SIGPIPE must be ignored: a spare may be
/// gone as its turn comes.
class SpareServer {
 public:
  /// What a forked process has of its server.
  class Child {
   public:
    /// It is the first one and says hello, or another did before.
    bool says_hello();
    /// It is ready: waits until it is its turn to serve.
    void wait_for_turn() const;
    /// It is its turn, or was from the start.
    bool is_its_turn() const;
    /// It is about to end: the next one need not wait until it is gone, which takes a driver long. `told`: the parent
    /// knows already.
    void leaves(bool told) const;

   private:
    friend class SpareServer;
    int turn_fd_ = -1, note_fd_ = -1;  ///< -1: its turn from the start
    std::atomic<int>* hello_said_ = nullptr;
  };
  struct Setup {
    RequestChannel* channel = nullptr;
    const FlightRecorder* recorder = nullptr;  ///< null: none
    int spares = 0;
    /// The whole life of a forked process; the exit status that it returns is CaseServer's, or kNotReady.
    std::function<int(Child&)> live;
  };
  /// Exit status of a spare that could not get ready; there is no room for so many.
  static constexpr int kNotReady = 104;

  explicit SpareServer(Setup setup);
  /// Returns the exit code of the program. Throws HarnessError when processes end before they take a case.
  int run();

 private:
  struct Process {
    pid_t pid = -1;
    int turn_fd = -1;  ///< to tell it that it is its turn; -1: it was from the start
    bool ready = false;
    bool at_once = false;  ///< it serves from the start, and was no spare
  };
  Process fork_one(bool at_once);
  void refill();
  void next();
  void tell(int wait_status);
  void await_end();
  bool read_notes();
  bool reap();
  void wait_for_those_leaving();
  bool may_load_another() const;

  Setup setup_;
  std::atomic<int>* hello_said_ = nullptr;
  int note_fds_[2] = {-1, -1};
  Process serving_;
  std::vector<Process> spares_;  ///< oldest first
  std::vector<pid_t> leaving_;   ///< have served, and are not gone yet
  int spares_wanted_ = 0;
  int stillborn_ = 0;
  int serving_status_ = 0;  ///< as waitpid gives it, once it is gone
  uint64_t case_before_ = 0;
};

}  // namespace aotifuzz
