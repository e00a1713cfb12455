#include "gate/gate_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/gate/served.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

using test::kinds;
using test::library;
using test::Said;
using test::serve;
using test::written;

TEST(GateServer, SaysLibraryOperatorsAndThatItIsDone) {
  const Said said = serve({.ops = library("gate_right_ops"), .only = {"right::norm"}});
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_EQ(said.libraries, 1);
  EXPECT_EQ(said.last.kind, GateMessage::Kind::kDone);
  ASSERT_EQ(said.operators.size(), 1u);
  const GateOperator& op = said.operators.at("right::norm");
  EXPECT_TRUE(op.is_through());
  EXPECT_TRUE(op.findings.empty());
  EXPECT_GT(op.seconds, 0);
}

TEST(GateServer, DeathsAndHangsAreResultsOfTheirOperator) {
  const std::string spec = written("deaths.spec", "planted::divides x=f32[B,D]\nplanted::spins x=f32[B,D]\n");
  const Said said = serve({.ops = library("gate_faulty_ops"),
                           .spec = spec,
                           .only = {"planted::divides", "planted::spins", "planted::by_size"},
                           .jobs = 2,
                           .step_timeout = std::chrono::milliseconds(1000)});
  std::filesystem::remove(spec);
  EXPECT_EQ(said.exit_code, 0);
  EXPECT_THAT(kinds(said.operators.at("planted::divides")), Contains("kernel-crashes"));
  EXPECT_THAT(kinds(said.operators.at("planted::spins")), Contains("kernel-hangs"));
  EXPECT_THAT(kinds(said.operators.at("planted::by_size")), Contains("meta-specialises")) << "the others go on";
  for (const auto& [name, op] : said.operators) EXPECT_TRUE(op.is_through()) << name;
}

TEST(GateServer, EachLineOfAnOperatorIsAProcess) {
  const std::string spec = written("lines.spec", "right::norm x=f32[B,4]\nright::norm x=f32[3,D]\n");
  const Said said = serve({.ops = library("gate_right_ops"), .spec = spec, .only = {"right::norm"}});
  std::filesystem::remove(spec);
  const GateOperator& op = said.operators.at("right::norm");
  EXPECT_EQ(op.begun, 2);
  EXPECT_EQ(op.ended, 2);
  EXPECT_THAT(op.arguments, HasSubstr("x=f32[B,4]"));
  EXPECT_THAT(op.arguments, HasSubstr("\nright::norm x=f32[3,D]"));
  EXPECT_TRUE(op.expressions.count("0 contiguous output 0"));
  EXPECT_TRUE(op.expressions.count("2.0 contiguous output 0")) << "told apart";
}

TEST(GateServer, CallsCountWhereNoLineSaysOtherwise) {
  const std::string spec = written("user.spec", "right::norm x=f32[B,4]\n");
  const std::string calls = written("calls.spec",
                                    "right::norm x=f32[7,4]\nright::gelu_add x=f32[B,2] y=f32[B,2]\n"
                                    "right::blocks y=f32[B]\nother::op x=f32[B]\n");
  const Said said = serve({.ops = library("gate_right_ops"),
                           .spec = spec,
                           .calls = calls,
                           .only = {"right::norm", "right::gelu_add", "right::blocks"}});
  EXPECT_EQ(said.operators.at("right::norm").calls, 0);
  EXPECT_EQ(said.operators.at("right::gelu_add").calls, 1);
  EXPECT_THAT(said.operators.at("right::blocks").calls_not_used, Contains(HasSubstr("no argument `y`")));
  EXPECT_TRUE(said.operators.at("right::blocks").drawn_by_default);
  const Said none = serve({.ops = library("gate_faulty_ops"), .calls = calls});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(none.last.kind, GateMessage::Kind::kFatal);
  EXPECT_THAT(none.last.what, HasSubstr("calls no operator"));
  std::filesystem::remove(spec);
  std::filesystem::remove(calls);
}

TEST(GateServer, WhatIsWrongWithTheWorldIsTheLastLine) {
  const Said said = serve({.ops = "missing.so"});
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_EQ(said.last.kind, GateMessage::Kind::kFatal);
  EXPECT_THAT(said.last.what, HasSubstr("does not exist"));
  EXPECT_EQ(said.last.where, "missing.so");
  EXPECT_NE(said.last.to_do, "");
}

}  // namespace
}  // namespace aotifuzz
