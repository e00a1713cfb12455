#include "worker/request_channel.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace aotifuzz {
namespace {

class RequestChannelTest : public ::testing::Test {
 protected:
  RequestChannelTest() {
    EXPECT_EQ(pipe(request_), 0);
    EXPECT_EQ(pipe(message_), 0);
  }
  void write_text(const std::string& text) {
    ASSERT_EQ(::write(request_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int request_[2], message_[2];
};

TEST_F(RequestChannelTest, ReadsOneRequestAndNotAByteMore) {
  write_text(print_case_request(1, "abc\n") + print_case_request(2, "de"));
  RequestChannel first(request_[0], message_[1]);
  auto request = first.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id, 1u);
  EXPECT_EQ(request->case_text, "abc\n");
  // Another process on the same pipe, as after a death.
  RequestChannel second(request_[0], message_[1]);
  request = second.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->case_text, "de");
}

TEST_F(RequestChannelTest, QuitAndAClosedPipeEndIt) {
  write_text("quit\n");
  RequestChannel channel(request_[0], message_[1]);
  EXPECT_FALSE(channel.next());
  write_text("case 1 100\nshort");
  close(request_[1]);
  EXPECT_FALSE(channel.next()) << "half a case is none";
}

TEST_F(RequestChannelTest, GarbageIsAnError) {
  RequestChannel channel(request_[0], message_[1]);
  write_text("hello there\n");
  EXPECT_THROW(channel.next(), HarnessError);
  write_text("case 1 999999999999\n");
  EXPECT_THROW(channel.next(), HarnessError);
  write_text(std::string(200, '7'));
  EXPECT_THROW(channel.next(), HarnessError);
}

TEST_F(RequestChannelTest, SendsOneLineAMessage) {
  RequestChannel channel(request_[0], message_[1]);
  WorkerMessage ready;
  ready.pid = 42;
  ASSERT_TRUE(channel.send(ready));
  char text[256] = {};
  ASSERT_GT(read(message_[0], text, sizeof(text)), 0);
  const auto parsed = parse_message(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->pid, 42);
}

}  // namespace
}  // namespace aotifuzz
