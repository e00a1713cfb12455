#include "store/engine_protocol.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace aotifuzz {
namespace {

struct RequestHead {
  uint32_t kind, seed, unit, other;
};

struct CountersHead {
  uint32_t ran, count;
};

bool write_all(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    // MSG_NOSIGNAL: a peer that is gone is an answer, not a signal.
    const ssize_t n = ::send(fd, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, size -= static_cast<size_t>(n);
  }
  return true;
}

bool read_all(int fd, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::recv(fd, at, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n, size -= static_cast<size_t>(n);
  }
  return true;
}

bool read_string(int fd, uint32_t size, std::string* out) {
  if (size > kEngineUnitMax) return false;
  out->resize(size);
  return read_all(fd, out->data(), size);
}

/// One write a message: each wakes the reader.
template <class Head>
std::string with_head(const Head& head, size_t body) {
  std::string message(sizeof head, '\0');
  message.reserve(sizeof head + body);
  std::memcpy(message.data(), &head, sizeof head);
  return message;
}

}  // namespace

bool send_request(int fd, const EngineRequest& request) {
  if (request.unit.size() > kEngineUnitMax || request.other.size() > kEngineUnitMax) return false;
  const RequestHead head{static_cast<uint32_t>(request.kind), request.seed, static_cast<uint32_t>(request.unit.size()),
                         static_cast<uint32_t>(request.other.size())};
  const std::string message =
      with_head(head, request.unit.size() + request.other.size()) + request.unit + request.other;
  return write_all(fd, message.data(), message.size());
}

bool receive_request(int fd, EngineRequest* request) {
  RequestHead head{};
  if (!read_all(fd, &head, sizeof head) || head.kind > static_cast<uint32_t>(EngineRequest::Kind::kRun)) return false;
  request->kind = static_cast<EngineRequest::Kind>(head.kind);
  request->seed = head.seed;
  return read_string(fd, head.unit, &request->unit) && read_string(fd, head.other, &request->other);
}

bool send_text(int fd, const std::string& text) {
  if (text.size() > kEngineUnitMax) return false;
  const std::string message = with_head(static_cast<uint32_t>(text.size()), text.size()) + text;
  return write_all(fd, message.data(), message.size());
}

bool receive_text(int fd, std::string* text) {
  uint32_t size = 0;
  return read_all(fd, &size, sizeof size) && read_string(fd, size, text);
}

bool send_counters(int fd, bool ran, const std::vector<EngineCounter>& counters) {
  const CountersHead head{ran ? 1u : 0u, static_cast<uint32_t>(counters.size())};
  std::string message = with_head(head, counters.size() * 3);
  for (const EngineCounter& counter : counters) {
    char bytes[3];
    std::memcpy(bytes, &counter.index, 2);
    bytes[2] = static_cast<char>(counter.level);
    message.append(bytes, sizeof bytes);
  }
  return write_all(fd, message.data(), message.size());
}

bool receive_counters(int fd, bool* ran, std::vector<EngineCounter>* counters) {
  CountersHead head{};
  if (!read_all(fd, &head, sizeof head) || head.count > kEngineUnitMax) return false;
  std::string bytes(size_t{head.count} * 3, '\0');
  if (!read_all(fd, bytes.data(), bytes.size())) return false;
  *ran = head.ran != 0;
  counters->clear();
  for (size_t at = 0; at < bytes.size(); at += 3) {
    EngineCounter counter;
    std::memcpy(&counter.index, bytes.data() + at, 2);
    counter.level = static_cast<uint8_t>(bytes[at + 2]);
    if (counter.index >= EngineCounter::kCount || counter.level < 1 || counter.level > 8) return false;
    counters->push_back(counter);
  }
  return true;
}

}  // namespace aotifuzz
