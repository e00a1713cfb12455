#include "store/gate_record.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(GateRecord, AnOperatorComesBackAsItWasSent) {
  GateMessage message;
  message.kind = GateMessage::Kind::kOperator;
  message.op.name = "ns::op";
  message.op.schema = "ns::op(Tensor x) -> Tensor";
  GateFinding finding;
  finding.kind = "meta-wrong-size";
  finding.sizes = "B=7";
  finding.weight = 7;
  finding.precondition = true;
  finding.frames = {{"/lib/ops.so", 0x1234, "ns::meta(at::Tensor const&)"}};
  message.op.findings = {finding};
  message.op.values["0 contiguous B=7"] = {"f32[7]", "f32[8]"};
  message.op.mined = {64, 128};
  const auto back = parse_gate_message(print_gate_message(message));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->op.name, "ns::op");
  ASSERT_EQ(back->op.findings.size(), 1u);
  EXPECT_TRUE(back->op.findings[0].precondition);
  EXPECT_EQ(back->op.findings[0].frames[0].offset, 0x1234u);
  EXPECT_EQ(back->op.values.at("0 contiguous B=7").kernel, "f32[8]");
  EXPECT_EQ(back->op.mined, (std::vector<int64_t>{64, 128}));
}

TEST(GateRecord, PartsAddUp) {
  GateOperator all;
  GateOperator first, second;
  first.schema = "schema";
  first.points = 3;
  first.notes = {"a"};
  second.points = 4;
  second.notes = {"a", "b"};
  second.ended = 1;
  second.not_judged = "why";
  all.merge(std::move(first));
  all.merge(std::move(second));
  EXPECT_EQ(all.points, 7);
  EXPECT_EQ(all.notes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.schema, "schema");
  EXPECT_EQ(all.not_judged, "why");
  EXPECT_TRUE(all.is_through());
}

TEST(GateRecord, GarbageIsAnError) {
  for (const char* line : {"", "text", "[]", "{}", "{\"operator\": 3}", "{\"operator\": {\"points\": \"x\"}}"})
    EXPECT_FALSE(parse_gate_message(line)) << line;
}

}  // namespace
}  // namespace aotifuzz
