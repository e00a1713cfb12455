#include "worker/spare_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "core/error.h"
#include "tests/support/memory_trap.h"
#include "worker/case_server.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// A server in a process of its own, whose children take 200 ms to get ready and then do what each case number says.
class Server {
 public:
  enum Order : uint64_t { kPass = 1, kDie = 2, kLoseDevice = 3 };

  explicit Server(int spares, std::function<void(SpareServer::Child&)> load = {}) : recorder_(test::shared_recorder()) {
    int request[2], message[2];
    if (pipe(request) != 0 || pipe(message) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close(request[1]);
      close(message[0]);
      RequestChannel channel(request[0], message[1]);
      SpareServer server(
          {.channel = &channel, .recorder = recorder_, .spares = spares, .live = [&](SpareServer::Child& child) {
             return live(channel, child, load);
           }});
      try {
        _exit(server.run());
      } catch (const HarnessError&) {
        _exit(kExitWorld);
      }
    }
    close(request[0]);
    close(message[1]);
    request_fd_ = request[1];
    message_fd_ = message[0];
  }
  ~Server() {
    close(request_fd_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(message_fd_);
  }

  void send(const std::string& text) { ASSERT_EQ(write(request_fd_, text.data(), text.size()), ssize_t(text.size())); }
  void order(Order order) { send(print_case_request(order, "")); }
  /// The next message; kFatal when there is none.
  WorkerMessage read() {
    std::string line;
    for (char c = 0; ::read(message_fd_, &c, 1) == 1;) {
      line += c;
      if (c == '\n') return *parse_message(line);
    }
    WorkerMessage none;
    none.kind = WorkerMessage::Kind::kFatal;
    return none;
  }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int live(RequestChannel& channel, SpareServer::Child& child, const std::function<void(SpareServer::Child&)>& load) {
    usleep(200'000);
    if (load) load(child);
    WorkerMessage message;
    if (child.says_hello()) {
      message.kind = WorkerMessage::Kind::kHello;
      channel.send(message);
    }
    child.wait_for_turn();
    message.kind = WorkerMessage::Kind::kReady;
    message.pid = getpid();
    channel.send(message);
    for (;;) {
      const auto request = channel.next();
      if (!request && channel.renew_asked()) {
        child.leaves(false);
        sleep(1);  // a process that holds a device is not gone at once
        return CaseServer::kRenewed;
      }
      if (!request) return CaseServer::kDone;
      recorder_->begin_case(request->id);
      if (request->id == kDie) ::kill(getpid(), SIGKILL);
      if (request->id == kLoseDevice) {
        message.kind = WorkerMessage::Kind::kDied;
        message.device_error = "illegal memory access";
        channel.send(message);
        child.leaves(true);
        sleep(1);
        return 102;
      }
      message.kind = WorkerMessage::Kind::kReport;
      message.report.id = request->id;
      channel.send(message);
    }
  }

  FlightRecorder* recorder_;
  pid_t pid_ = -1;
  int request_fd_ = -1, message_fd_ = -1;
};

using Kind = WorkerMessage::Kind;

TEST(SpareServer, ServesSaysHelloOnceAndEndsWithItsParent) {
  Server server(2);
  EXPECT_EQ(server.read().kind, Kind::kHello);
  EXPECT_EQ(server.read().kind, Kind::kReady);
  server.order(Server::kPass);
  EXPECT_EQ(server.read().kind, Kind::kReport);
  server.send("quit\n");
  EXPECT_EQ(server.wait(), kExitNoFaults);
}

TEST(SpareServer, ADeathCostsNoStart) {
  Server server(2);
  EXPECT_EQ(server.read().kind, Kind::kHello);
  EXPECT_EQ(server.read().kind, Kind::kReady);
  for (const Server::Order order : {Server::kDie, Server::kLoseDevice}) {
    usleep(500'000);
    const auto begin = Clock::now();
    server.order(order);
    const WorkerMessage died = server.read();
    EXPECT_EQ(died.kind, Kind::kDied);
    EXPECT_EQ(died.device_error.empty(), order == Server::kDie) << "told once, by whoever knows more";
    EXPECT_EQ(died.signal, order == Server::kDie ? SIGKILL : 0);
    EXPECT_EQ(server.read().kind, Kind::kReady);
    server.order(Server::kPass);
    EXPECT_EQ(server.read().kind, Kind::kReport);
    EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(150)) << "a start takes 200";
  }
}

TEST(SpareServer, AnotherProcessWhenAskedThoughTheLastOneIsSlowToGo) {
  Server server(1);
  EXPECT_EQ(server.read().kind, Kind::kHello);
  const int first = server.read().pid;
  usleep(500'000);
  const auto begin = Clock::now();
  server.send("renew\n");
  const WorkerMessage died = server.read();
  EXPECT_EQ(died.kind, Kind::kDied);
  EXPECT_EQ(died.status, 0) << "planned";
  const WorkerMessage ready = server.read();
  EXPECT_EQ(ready.kind, Kind::kReady);
  EXPECT_NE(ready.pid, first);
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(150));
}

TEST(SpareServer, DoesWithFewerSparesWhereThereIsNoRoomForAll) {
  Server server(3, [](SpareServer::Child& child) {
    if (!child.is_its_turn()) _exit(SpareServer::kNotReady);
  });
  EXPECT_EQ(server.read().kind, Kind::kHello);
  EXPECT_EQ(server.read().kind, Kind::kReady);
  usleep(500'000);
  server.order(Server::kDie);
  EXPECT_EQ(server.read().kind, Kind::kDied);
  EXPECT_EQ(server.read().kind, Kind::kReady) << "one is forked when it is needed";
  server.order(Server::kPass);
  EXPECT_EQ(server.read().kind, Kind::kReport);
}

TEST(SpareServer, GivesUpWhenProcessesEndBeforeTheyTakeACase) {
  Server server(0, [](SpareServer::Child&) { _exit(9); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(server.read().kind, Kind::kDied);
  EXPECT_EQ(server.wait(), kExitWorld);
}

}  // namespace
}  // namespace aotifuzz
