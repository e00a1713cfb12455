#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/engine_protocol.h"

namespace aotifuzz {

struct EngineOptions {
  std::string program;  ///< "" = find_engine_program()
  std::string corpus;   ///< folder of units: read at the start and now and then, and added to; made when absent
  uint64_t seed = 1;
  std::vector<std::string> flags;  ///< of libFuzzer, after ours: they win
};

/// Path of `aotifuzz-engine`: AOTIFUZZ_ENGINE, else beside this program; "" = this build has none (no libFuzzer).
/// Throws HarnessError when AOTIFUZZ_ENGINE cannot be executed.
std::string find_engine_program();

/// One started engine (store/engine_protocol.h). Starts with the constructor; ends with the destructor. What libFuzzer
/// prints is kept for messages. Not thread-safe.
class EngineProcess {
 public:
  /// Throws HarnessError when it cannot be started.
  explicit EngineProcess(EngineOptions options);
  ~EngineProcess();
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  /// What the engine asks next, each to be answered before the next; waits for it. Throws HarnessError with libFuzzer's
  /// last words when it ended (a corpus folder that it cannot read), the first time UsageError for a flag that it does
  /// not know, which libFuzzer itself passes over.
  EngineRequest next();
  void answer_text(const std::string& text) { send_text(fd_, text); }
  void answer_counters(bool ran, const std::vector<EngineCounter>& counters) { send_counters(fd_, ran, counters); }

 private:
  void start();
  void require_known_flags() const;
  [[noreturn]] void fail();
  std::string last_words() const;

  EngineOptions options_;
  bool asked_ = false;
  pid_t pid_ = -1;
  int fd_ = -1, log_fd_ = -1;
};

}  // namespace aotifuzz
