#include "gate/argument_draw.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

namespace aotifuzz {
namespace {

c10::FunctionSchema schema(const std::string& text) { return torch::jit::parseSchema("ns::op" + text); }

std::string line(const std::string& text, const OperatorSpec* spec = nullptr) {
  const c10::FunctionSchema parsed = schema(text);
  return spec_line(parsed, "op", draw_arguments(parsed, spec));
}

TEST(ArgumentDraw, EveryTypeHasItsValues) {
  EXPECT_EQ(line("(Tensor x, Tensor? b) -> Tensor"), "op x=f32[s0,s1] b=None|f32[s0,s1]");
  EXPECT_EQ(line("(Tensor[] xs) -> Tensor"), "op xs={f32[s0,s1];f32[s0,s1]}");
  EXPECT_EQ(line("(SymInt k, int n, int block=64, int dim=0) -> Tensor"), "op k=$k n=$n block=64 dim=0|-1 k>=1 n>=1");
  EXPECT_EQ(line("(float p, Scalar s, bool b, str mode) -> Tensor"), "op p=0.5 s=0.5 b=false|true mode=\"\"");
  EXPECT_EQ(line("(ScalarType? d=None, int[] a=[1, 2], Device? v=None) -> Tensor"), "op d=None|f16 a=[1,2] v=None");
}

TEST(ArgumentDraw, WhatCannotBeDrawnIsSaid) {
  const c10::FunctionSchema parsed = schema("(Tensor x, Generator g) -> Tensor");
  EXPECT_NE(draw_arguments(parsed, nullptr).unsupported.find("argument g"), std::string::npos);
}

TEST(ArgumentDraw, TheSpecComesBeforeTheSchema) {
  auto spec = parse_op_spec("ns::op x=f32[B,3] k=$B", "test");
  ASSERT_TRUE(spec);
  EXPECT_EQ(line("(Tensor x, SymInt k, bool b=False) -> Tensor", &spec->at("ns::op").front()),
            "op x=f32[B,3] k=$B b=false B>=1");
}

TEST(ArgumentDraw, WhatACallDoesNotSayIsTheSchemasDefault) {
  auto spec = parse_op_spec("ns::op x=f32[B,T*B]", "test");
  ASSERT_TRUE(spec);
  OperatorSpec& call = spec->at("ns::op").front();
  const std::string text = "(Tensor x, Tensor? b=None, int dim=0, ScalarType? d=None) -> Tensor";
  EXPECT_EQ(line(text, &call), "op x=f32[B,T*B] b=None|f32[s0,s1] dim=0|-1 d=None|f16") << "a spec leaves it open";
  call.is_call = true;
  EXPECT_EQ(line(text, &call), "op x=f32[B,T*B] b=None dim=0 d=None");
}

TEST(ArgumentDraw, IntegersOfACallMayBeZeros) {
  auto spec = parse_op_spec("ns::op x=f32[B] rows=i64[N] known=i64[N]:below(B)", "test");
  ASSERT_TRUE(spec);
  DrawnArguments drawn =
      draw_arguments(schema("(Tensor x, Tensor rows, Tensor known) -> Tensor"), &spec->at("ns::op").front());
  EXPECT_TRUE(with_zeros(&drawn));
  EXPECT_EQ(value_text(drawn.alternatives[1][0], drawn.symbols), "i64[N]:const(0)");
  EXPECT_EQ(value_text(drawn.alternatives[2][0], drawn.symbols), "i64[N]:below(B)");
  EXPECT_FALSE(with_zeros(&drawn)) << "nothing is left of which nothing is said";
}

TEST(ArgumentDraw, NamesThatAreNoArgumentAreFound) {
  auto spec = parse_op_spec("ns::op x=f32[B,3] y=f32[B] k=$B", "test");
  ASSERT_TRUE(spec);
  EXPECT_EQ(unknown_arguments(schema("(Tensor x, SymInt k) -> Tensor"), spec->at("ns::op").front()),
            std::vector<std::string>{"y"});
  EXPECT_TRUE(
      unknown_arguments(schema("(Tensor x, Tensor y, SymInt k) -> Tensor"), spec->at("ns::op").front()).empty());
}

TEST(ArgumentDraw, PlainIntsAreToldFromSymInts) {
  const DrawnArguments drawn = draw_arguments(schema("(SymInt k, int n) -> Tensor"), nullptr);
  EXPECT_EQ(drawn.is_plain_int, (std::vector<bool>{false, true}));
}

TEST(ArgumentDraw, AlternativesAreCombinedUpToALimit) {
  const DrawnArguments drawn = draw_arguments(schema("(bool a, bool b, bool c) -> Tensor"), nullptr);
  size_t dropped = 0;
  EXPECT_EQ(choose_alternatives(drawn, 5, &dropped).size(), 5u);
  EXPECT_EQ(dropped, 3u);
  EXPECT_EQ(choose_alternatives(drawn, 8, &dropped).size(), 8u);
  EXPECT_EQ(dropped, 0u);
}

TEST(ArgumentDraw, ValuesMayMatterWhereIndicesCouldBe) {
  EXPECT_TRUE(values_may_matter("x=f32[B] i=i64[N]"));
  EXPECT_TRUE(values_may_matter("x=f32[B] k=$k"));
  EXPECT_FALSE(tensor_values_may_matter("x=f32[B] k=$k"));
  EXPECT_TRUE(tensor_values_may_matter("xs={f32[B];i64[N]}"));
  EXPECT_FALSE(values_may_matter("x=f32[B] w=bf16[B]"));
}

}  // namespace
}  // namespace aotifuzz
