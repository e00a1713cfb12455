#include "worker/spare_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "core/error.h"
#include "tests/support/memory_trap.h"
#include "worker/case_server.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

/// A server in a process of its own, whose children take 200 ms to get ready and then do what each case number says.
class Server {
 public:
  enum Order : uint64_t { kPass, kDie, kLoseDevice, kOrders };

  explicit Server(int spares, std::function<void(SpareServer::Child&)> load = {}) : recorder_(test::shared_recorder()) {
    int request[2], message[2];
    if (pipe(request) != 0 || pipe(message) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close(request[1]);
      close(message[0]);
      signal(SIGPIPE, SIG_IGN);  // as in the programs (worker/server_setup.h)
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
  void order(Order order) { send(print_case_request(kOrders * ++cases_ + order, "")); }
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
  /// Processes that the server has now.
  std::set<pid_t> children() const {
    const std::string id = std::to_string(pid_);
    std::ifstream list("/proc/" + id + "/task/" + id + "/children");
    std::set<pid_t> out;
    for (pid_t child = 0; list >> child;) out.insert(child);
    return out;
  }
  /// Those that it has once there are `count`.
  std::set<pid_t> await_children(size_t count) const {
    for (int tries = 0; children().size() != count && tries < 60'000; ++tries) usleep(1000);
    return children();
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
        sleep(4);  // a process that holds a device is not gone at once
        return CaseServer::kRenewed;
      }
      if (!request) return CaseServer::kDone;
      recorder_->begin_case(request->id);
      if (request->id % kOrders == kDie) ::kill(getpid(), SIGKILL);
      if (request->id % kOrders == kLoseDevice) {
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
  uint64_t cases_ = 0;  ///< no two have the same number, as in the parent
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
    const std::set<pid_t> there = server.await_children(3);
    server.order(order);
    const WorkerMessage died = server.read();
    EXPECT_EQ(died.kind, Kind::kDied);
    EXPECT_EQ(died.device_error.empty(), order == Server::kDie) << "told once, by whoever knows more";
    EXPECT_EQ(died.signal, order == Server::kDie ? SIGKILL : 0);
    const WorkerMessage ready = server.read();
    EXPECT_EQ(ready.kind, Kind::kReady);
    EXPECT_TRUE(there.contains(ready.pid)) << "it was started before the death";
    EXPECT_NE(ready.pid, died.pid);
    server.order(Server::kPass);
    EXPECT_EQ(server.read().kind, Kind::kReport);
  }
}

TEST(SpareServer, AnotherProcessWhenAskedThoughTheLastOneIsSlowToGo) {
  Server server(1);
  EXPECT_EQ(server.read().kind, Kind::kHello);
  const int first = server.read().pid;
  const std::set<pid_t> there = server.await_children(2);
  server.send("renew\n");
  const WorkerMessage died = server.read();
  EXPECT_EQ(died.kind, Kind::kDied);
  EXPECT_EQ(died.status, 0) << "planned";
  const WorkerMessage ready = server.read();
  EXPECT_EQ(ready.kind, Kind::kReady);
  EXPECT_NE(ready.pid, first);
  EXPECT_TRUE(there.contains(ready.pid)) << "it was started before it was asked for";
  EXPECT_TRUE(server.children().contains(first)) << "nobody waited for the last one, which takes seconds to go";
}

TEST(SpareServer, DoesWithFewerSparesWhereThereIsNoRoomForAll) {
  Server server(3, [](SpareServer::Child& child) {
    if (!child.is_its_turn()) _exit(SpareServer::kNotReady);
  });
  EXPECT_EQ(server.read().kind, Kind::kHello);
  EXPECT_EQ(server.read().kind, Kind::kReady);
  // At once: spares may be loading, or be about to find no room, when their turn comes. Then when all are gone.
  for (int deaths = 0; deaths < 5; ++deaths) {
    if (deaths == 4) server.await_children(1);
    server.order(Server::kDie);
    EXPECT_EQ(server.read().kind, Kind::kDied);
    EXPECT_EQ(server.read().kind, Kind::kReady) << "one is forked when it is needed";
    server.order(Server::kPass);
    EXPECT_EQ(server.read().kind, Kind::kReport);
  }
}

TEST(SpareServer, GivesUpWhenProcessesEndBeforeTheyTakeACase) {
  Server server(0, [](SpareServer::Child&) { _exit(9); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(server.read().kind, Kind::kDied);
  EXPECT_EQ(server.wait(), kExitWorld);
}

}  // namespace
}  // namespace aotifuzz
