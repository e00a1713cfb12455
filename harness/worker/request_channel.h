#pragma once

#include <optional>
#include <string>

#include "store/worker_protocol.h"

namespace aotifuzz {

/// The two pipes to the parent. Reads exactly one request and not a byte more. What a process that died left in the
/// pipe, half a request perhaps, is for its server to drop: the parent sends it again.
class RequestChannel {
 public:
  RequestChannel(int request_fd, int message_fd) : request_fd_(request_fd), message_fd_(message_fd) {}

  struct Request {
    uint64_t id = 0;
    std::string case_text;
    bool careful = false;  ///< see WorkerRequest
  };
  /// The next case; nullopt when the parent says quit or renew, or is gone. Throws HarnessError for a request that is
  /// no request.
  std::optional<Request> next();
  /// Did next() end because the parent wants another process?
  bool renew_asked() const { return renew_asked_; }
  /// Empties the pipe. Only while nobody else reads it.
  void drop_pending();
  /// False when the parent is gone.
  bool send(const WorkerMessage& message);

  int request_fd() const { return request_fd_; }

  /// Longest case text that is read; the format's own limits are far below.
  static constexpr size_t kCaseTextMax = 16 << 20;

 private:
  bool read_exactly(char* to, size_t bytes);
  int request_fd_, message_fd_;
  bool renew_asked_ = false;
};

}  // namespace aotifuzz
