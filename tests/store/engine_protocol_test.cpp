#include "store/engine_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace aotifuzz {
namespace {

class EngineProtocolTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  void TearDown() override {
    for (int fd : ends_)
      if (fd >= 0) ::close(fd);
  }
  void close_end(int end) {
    ::close(ends_[end]);
    ends_[end] = -1;
  }
  void write_words(std::initializer_list<uint32_t> words) {
    const std::vector<uint32_t> all(words);
    ASSERT_EQ(::write(ends_[0], all.data(), all.size() * 4), static_cast<ssize_t>(all.size() * 4));
  }
  int ends_[2] = {-1, -1};
};

TEST_F(EngineProtocolTest, RequestsArriveAsTheyWereSent) {
  for (const auto kind : {EngineRequest::Kind::kMutate, EngineRequest::Kind::kCross, EngineRequest::Kind::kRun}) {
    const EngineRequest sent{kind, 0xfedcba98, std::string("a\0b", 3), kind == EngineRequest::Kind::kCross ? "c" : ""};
    ASSERT_TRUE(send_request(ends_[0], sent));
    EngineRequest got;
    ASSERT_TRUE(receive_request(ends_[1], &got));
    EXPECT_EQ(got.kind, sent.kind);
    EXPECT_EQ(got.seed, sent.seed);
    EXPECT_EQ(got.unit, sent.unit);
    EXPECT_EQ(got.other, sent.other);
  }
}

TEST_F(EngineProtocolTest, ALongUnitPassesThoughThePipeIsShort) {
  const std::string unit(kEngineUnitMax, 'x');
  std::thread sender([&] { EXPECT_TRUE(send_text(ends_[0], unit)); });
  std::string got;
  EXPECT_TRUE(receive_text(ends_[1], &got));
  sender.join();
  EXPECT_EQ(got, unit);
  EXPECT_FALSE(send_text(ends_[0], unit + "x"));
}

TEST_F(EngineProtocolTest, CountersArriveAsTheyWereSent) {
  const std::vector<EngineCounter> sent = {{1, 1}, {EngineCounter::kCount - 1, 8}};
  for (const bool ran_sent : {true, false}) {
    ASSERT_TRUE(send_counters(ends_[0], ran_sent, ran_sent ? sent : std::vector<EngineCounter>{}));
    bool ran = !ran_sent;
    std::vector<EngineCounter> got;
    ASSERT_TRUE(receive_counters(ends_[1], &ran, &got));
    EXPECT_EQ(ran, ran_sent);
    EXPECT_EQ(got, ran_sent ? sent : std::vector<EngineCounter>{});
  }
}

TEST_F(EngineProtocolTest, WhatIsNoMessageIsRefused) {
  EngineRequest request;
  write_words({9, 0, 0, 0});  // no such kind
  EXPECT_FALSE(receive_request(ends_[1], &request));
  write_words({0, 0, kEngineUnitMax + 1, 0});
  EXPECT_FALSE(receive_request(ends_[1], &request));
  std::string text;
  write_words({0xffffffff});
  EXPECT_FALSE(receive_text(ends_[1], &text));
  bool ran = false;
  std::vector<EngineCounter> counters;
  write_words({1, 0xffffffff});
  EXPECT_FALSE(receive_counters(ends_[1], &ran, &counters));
}

TEST_F(EngineProtocolTest, ACounterOutOfRangeIsRefused) {
  for (const EngineCounter wrong :
       {EngineCounter{EngineCounter::kCount, 1}, EngineCounter{5, 0}, EngineCounter{5, 9}}) {
    ASSERT_TRUE(send_counters(ends_[0], true, {wrong}));
    bool ran = false;
    std::vector<EngineCounter> counters;
    EXPECT_FALSE(receive_counters(ends_[1], &ran, &counters)) << wrong.index << " " << int{wrong.level};
  }
}

TEST_F(EngineProtocolTest, APeerThatIsGoneIsAnAnswerAndNoSignal) {
  close_end(1);
  EXPECT_FALSE(send_text(ends_[0], "x"));
  EXPECT_FALSE(send_counters(ends_[0], true, {}));
  std::string text;
  EXPECT_FALSE(receive_text(ends_[0], &text));
}

}  // namespace
}  // namespace aotifuzz
