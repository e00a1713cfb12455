#include "worker/request_channel.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace aotifuzz {
namespace {

constexpr size_t kLineMax = 64;  // "case ID NBYTES careful" with two 20-digit numbers

[[noreturn]] void refuse(const std::string& what, const std::string& where) {
  throw HarnessError("the worker was sent something that is no request: " + what, where,
                     "start it through aotifuzz, or see store/worker_protocol.h");
}

}  // namespace

bool RequestChannel::read_exactly(char* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::read(request_fd_, to, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

std::optional<RequestChannel::Request> RequestChannel::next() {
  std::string line;
  for (char c = 0; c != '\n';) {
    if (!read_exactly(&c, 1)) return std::nullopt;
    line += c;
    if (line.size() > kLineMax) refuse("line too long", line);
  }
  const Result<WorkerRequest> parsed = parse_request_line(line);
  if (!parsed) refuse(parsed.error().what, parsed.error().where);
  renew_asked_ = parsed->kind == WorkerRequest::Kind::kRenew;
  if (parsed->kind != WorkerRequest::Kind::kCase) return std::nullopt;
  if (parsed->bytes > kCaseTextMax) refuse("case text too long", line);
  Request request;
  request.id = parsed->id;
  request.careful = parsed->careful;
  request.case_text.resize(parsed->bytes);
  if (!read_exactly(request.case_text.data(), parsed->bytes)) return std::nullopt;
  return request;
}

void RequestChannel::drop_pending() {
  char dropped[4096];
  for (;;) {
    pollfd waiting{request_fd_, POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0 || (waiting.revents & POLLIN) == 0) return;
    if (::read(request_fd_, dropped, sizeof(dropped)) <= 0) return;
  }
}

bool RequestChannel::send(const WorkerMessage& message) {
  const std::string line = print_message(message);
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::write(message_fd_, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace aotifuzz
