#include "store/op_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

OperatorSpec one(const std::string& line) {
  auto spec = parse_op_spec(line, "test.spec");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().what + " " + spec.error().where);
  if (!spec || spec->size() != 1 || spec->begin()->second.size() != 1) return {};
  return spec->begin()->second.front();
}

std::string printed(const OperatorSpec& op, const std::string& argument) {
  std::string out;
  for (const SpecValue& value : op.arguments.at(argument))
    out += (out.empty() ? "" : "|") + value_text(value, op.symbols);
  return out;
}

/// "1,1,1": one size more than commas.
std::string commas(int count) {
  std::string out = "1";
  for (int i = 0; i < count; ++i) out += ",1";
  return out;
}

TEST(OpSpec, EveryKindOfValueIsPrintedAsItWasRead) {
  const std::vector<std::string> values = {"f32[B,D]",
                                           "f32[]",
                                           "None|bf16[2*B,D-1]",
                                           "{f32[B,D];i64[E]}",
                                           "{}",
                                           "$K",
                                           "[B,4,D+1]",
                                           "-3",
                                           "0.25",
                                           "2.0",
                                           "true|false",
                                           "\"a b|c\"",
                                           "f16",
                                           "i64[N]:below(V)",
                                           "i64[B+1]:offsets(N)",
                                           "i32[B]:lengths(2*N)",
                                           "f32[B]:const(1.5)",
                                           "i32[T]:permutation",
                                           "f32[B*T,(T - 1) // 2 + 1]",
                                           "f32[2*B + 1,max(B, T),min(B, 7) % 3]",
                                           "i64[N]:below(B*T)",
                                           "$(B + T)",
                                           "[B*T,-1]",
                                           "[0.5,1e-05,-inf]",
                                           "[true,false]",
                                           "[\"a, b\",\"# c\"]",
                                           "inf|-inf|nan",
                                           "f32[L]"};
  for (const std::string& value : values) EXPECT_EQ(printed(one("ns::op a=" + value), "a"), value);
}

TEST(OpSpec, SymbolsHaveBounds) {
  const OperatorSpec op = one("ns::op x=f32[B,D] k=$K D>=3 D<=64 B%8  # comment");
  ASSERT_EQ(op.symbols.size(), 3u);
  EXPECT_EQ(op.symbols[0].name, "B");
  EXPECT_EQ(op.symbols[0].min, 0);
  EXPECT_EQ(op.symbols[0].multiple, 8);
  EXPECT_EQ(op.symbols[1].min, 3);
  EXPECT_EQ(op.symbols[1].max, 64);
  EXPECT_EQ(op.symbols[2].min, 1) << "given to an argument";
}

TEST(OpSpec, AnArgumentsSymbolIsFromOneWhereverItStandsFirst) {
  EXPECT_EQ(one("ns::op x=i64[N]:below(C) c=$C").symbols[1].min, 1);
  EXPECT_EQ(one("ns::op x=i64[N]:below(C) c=$C C>=0").symbols[1].min, 0);
}

TEST(OpSpec, WhatIsTakenFromASymbolKeepsItsSizesFromBeingNegative) {
  const auto min_of = [](const std::string& line) { return one(line).symbols.at(0).min; };
  EXPECT_EQ(min_of("ns::op x=f32[S-5]"), 5);
  EXPECT_EQ(min_of("ns::op x=f32[S-5]|f32[S-7,S]"), 7);
  EXPECT_EQ(min_of("ns::op S>=2 x=f32[S-5]"), 5) << "whatever the line says";
  EXPECT_EQ(min_of("ns::op S>=9 x=f32[S-5]"), 9);
  EXPECT_EQ(min_of("ns::op x=f32[S] y={f32[S];f32[S-2]}"), 2);
  EXPECT_EQ(min_of("ns::op x=i64[S+1]:offsets(S-3)"), 3);
  EXPECT_EQ(min_of("ns::op sizes=[S-4,-1]"), 4);
  EXPECT_EQ(min_of("ns::op x=f32[S+5]"), 0);
  EXPECT_EQ(min_of("ns::op k=$K-2"), 3) << "given to an argument it is at least 1";
  EXPECT_EQ(min_of("ns::op k=$K-2 j=$K"), 3);
  EXPECT_EQ(min_of("ns::op k=$K-2 K>=0"), 0) << "a number is no size, and may be negative";
}

TEST(OpSpec, SizesFollowTheirSymbol) {
  const OperatorSpec op = one("ns::op x=f32[2*B,D+3,5]");
  const auto& sizes = op.arguments.at("x")[0].tensors[0].sizes;
  EXPECT_EQ(size_value(sizes[0], op.symbols, {4, 10}), 8);
  EXPECT_EQ(size_value(sizes[1], op.symbols, {4, 10}), 13);
  EXPECT_EQ(size_value(sizes[2], op.symbols, {4, 10}), 5);
}

TEST(OpSpec, ExpressionsAreComputedAsPythonDoes) {
  const OperatorSpec op = one("ns::op x=f32[B*T,(B-1)//2+1,-B//2,B%T,L+B]  y=f32[T,L]");
  const auto& sizes = op.arguments.at("x")[0].tensors[0].sizes;
  const std::vector<int64_t> values = {7, 4, 3};
  ASSERT_EQ(op.symbols.size(), 3u);
  EXPECT_EQ(op.symbols[2].name, "L") << "which is special in guards";
  const std::vector<int64_t> expected = {28, 4, -4, 3, 10};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(size_value(sizes[i], op.symbols, values), expected[i]) << i;
  EXPECT_EQ(size_value(sizes[3], op.symbols, {7, 0, 3}), -1) << "a division by zero is no size";
  EXPECT_FALSE(conditions_hold(op.not_negative, op.symbols, values)) << "-B // 2";
  EXPECT_TRUE(op.conditions.empty());
}

TEST(OpSpec, ConditionsCompareSizes) {
  const OperatorSpec op = one("ns::op x=f32[B,T] B<=2*T B!=T (B + T < 20) B%2==0 T>=1 T%2");
  ASSERT_EQ(op.conditions.size(), 4u);
  EXPECT_EQ(op.symbols[1].min, 1);
  EXPECT_EQ(op.symbols[1].multiple, 2);
  EXPECT_EQ(op.symbols[0].multiple, 1);
  const auto holds = [&](int64_t b, int64_t t) { return conditions_hold(op.conditions, op.symbols, {b, t}); };
  EXPECT_TRUE(holds(8, 4));
  EXPECT_FALSE(holds(10, 4));
  EXPECT_FALSE(holds(4, 4));
  EXPECT_FALSE(holds(12, 8));
  EXPECT_FALSE(holds(7, 4));
  EXPECT_EQ(limits_text(op.symbols, op.conditions, {true, false}),
            " B>=0 T>=1 T%2 (B <= 2*T) (B != T) (B + T < 20) (B % 2 == 0)");
  const OperatorSpec again = one("ns::op x=f32[B,T]" + limits_text(op.symbols, op.conditions, {false, false}));
  EXPECT_EQ(again.conditions, op.conditions);
}

TEST(OpSpec, LinesOfOneOperatorAreKeptApartAndInOrder) {
  const auto spec = parse_op_spec("ns::op x=f32[B]\nns::other y=f32[B]\nns::op x=f32[B,D]\n", "test.spec");
  ASSERT_TRUE(spec);
  ASSERT_EQ(spec->at("ns::op").size(), 2u);
  EXPECT_EQ(spec->at("ns::op")[0].symbols.size(), 1u);
  EXPECT_EQ(spec->at("ns::op")[1].symbols.size(), 2u);
  EXPECT_EQ(spec->at("ns::op")[1].line, 3);
}

TEST(OpSpec, ACommentIsNoPartOfAText) {
  EXPECT_EQ(one("ns::op a=\"one # two\"  # three").arguments.at("a")[0].text, "one # two");
}

TEST(OpSpec, FlagsStandBesideArguments) {
  EXPECT_TRUE(one("ns::op @python-fake").python_fake);
  EXPECT_TRUE(one("ns::op.out x=f32[B] @skip").skip);
}

TEST(OpSpec, WhatIsWrongIsSaidWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"op x=f32[B]", "ns::operator"},
      {"ns::op x=f99[B]", "dtype"},
      {"ns::op x=f32[B", "not a tensor"},
      {"ns::op x=f32[B] x=f32[B]", "twice"},
      {"ns::op K>=1", "uses this symbol"},
      {"ns::op x=", "missing"},
      {"ns::op x=f32[B]:odd(3)", "unknown"},
      {"ns::op x=f32[9*]", "not a size"},
      {"ns::op what", "argument=value"},
      {"ns::op x=f32[B] B>=9 B<=3", "within the bounds"},
      {"ns::op x=f32[S-5] S<=4", "within the bounds"},
      {"ns::op x=f32[S] S>=9 S%8 S<=15", "within the bounds"},
      {"ns::op x=f32[-1]", "negative"},
      {"ns::op x=None|{f32[3];f32[2,-3]}", "negative"},
      {"ns::op x=i64[N]:below(-2)", "negative"},
      {"ns::op x=f32[" + commas(64) + "]", "64 dimensions"},
      {"ns::op x=1e", "not a value"},
      {"ns::op x=f32[99999999999999999999]", "not a size"},
      {"ns::op x=f32[B//]", "not a size"},
      {"ns::op x=f32[B<T]", "not a size"},
      {"ns::op x=f32[B*x.size(0)]", "not a size"},
      {"ns::op x=f32[B] B<=Q", "uses this symbol"},
      {"ns::op x=f32[B] B<=", "bound"},
      {"ns::op x=f32[B] (B + 1", "argument=value"},
      {"ns::op x=[true,f32]", "neither sizes"}};
  for (const auto& [text, words] : cases) {
    const auto spec = parse_op_spec("# first\n" + text, "test.spec");
    ASSERT_FALSE(spec) << text;
    EXPECT_THAT(spec.error().what, HasSubstr(words)) << text;
    EXPECT_THAT(spec.error().where, HasSubstr("test.spec line ")) << text;
  }
}

}  // namespace
}  // namespace aotifuzz
