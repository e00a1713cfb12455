#include "package/dimension_space.h"

#include <gtest/gtest.h>

#include "core/guard_parser.h"

namespace aotifuzz {
namespace {

/// x[s0, s1] with a free row stride, y[...] whose size is fixed, n a scalar.
Contract sample() {
  Contract contract;
  InputSpec x;
  x.name = "x";
  x.sizes = {Expr::symbol("s0"), Expr::symbol("s1")};
  x.strides = {Expr::symbol("s9"), Expr::integer(1)};
  InputSpec y;
  y.name = "y";
  y.sizes = {Expr::symbol("s1")};
  y.strides = {Expr::integer(1)};
  InputSpec n;
  n.name = "n";
  n.kind = CaseInput::Kind::kInt;
  contract.inputs = {x, y, n};
  contract.symbols = {{"s0", "x.size(0)"}, {"s1", "x.size(1)"}, {"s9", "x.stride(0)"}, {"s7", "n"}, {"u0", ""}};
  for (const char* text : {"y.size(0) == x.size(1)", "x.size(0) % n == 0", "u0 >= 3", "f(x.size(0)) == 1"})
    contract.conditions.push_back(
        {text[0] == 'y' ? Condition::Kind::kSize : Condition::Kind::kGuard, -1, *parse_size_text(text), text});
  return contract;
}

TEST(DimensionSpace, SeparatesChosenFixedAndStrideDimensions) {
  const Contract contract = sample();
  const DimensionSpace space(contract);
  EXPECT_EQ(space.choosable(), (std::vector<std::string>{"x.size(0)", "x.size(1)", "n"}));
  EXPECT_EQ(space.free_strides(), std::vector<std::string>{"x.stride(0)"});
  EXPECT_EQ(space.fixed_by("y.size(0)"), 0);
  EXPECT_EQ(space.fixed_by("x.size(0)"), -1);
  EXPECT_TRUE(space.is_size("y.size(0)"));
  EXPECT_FALSE(space.is_size("n"));
}

TEST(DimensionSpace, ChecksOnlyWhatItUnderstands) {
  const Contract contract = sample();
  const DimensionSpace space(contract);
  EXPECT_TRUE(space.is_checked(0));
  EXPECT_TRUE(space.is_checked(1));
  EXPECT_FALSE(space.is_checked(2)) << "u0 is no dimension";
  EXPECT_FALSE(space.is_checked(3)) << "opaque";
}

TEST(DimensionSpace, CompletesFixedSizesAndStrides) {
  const Contract contract = sample();
  const DimensionSpace space(contract);
  const std::optional<Assignment> all = space.complete({{"x.size(0)", 4}, {"x.size(1)", 3}, {"n", 2}}, 2);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at("y.size(0)"), 3);
  EXPECT_EQ(all->at("x.stride(0)"), 6) << "twice the dense stride";
  EXPECT_TRUE(space.satisfies(*all));
  EXPECT_EQ(space.elements(*all), 12);
  const std::optional<Assignment> stated =
      space.complete({{"x.size(0)", 4}, {"x.size(1)", 3}, {"y.size(0)", 5}, {"n", 2}});
  ASSERT_TRUE(stated);
  EXPECT_EQ(stated->at("y.size(0)"), 5) << "what is stated stays";
  EXPECT_EQ(space.broken(*stated, 9), std::vector<int>{0});
  EXPECT_FALSE(space.complete({{"x.size(0)", 4}}));
}

TEST(DimensionSpace, UndefinedConditionsCountAsBroken) {
  const Contract contract = sample();
  const DimensionSpace space(contract);
  const std::optional<Assignment> all = space.complete({{"x.size(0)", 4}, {"x.size(1)", 3}, {"n", 0}});
  ASSERT_TRUE(all);
  EXPECT_EQ(space.holds(1, *all), std::nullopt);
  EXPECT_EQ(space.broken(*all, 9), std::vector<int>{1});
}

TEST(DimensionSpace, ElementsSaturate) {
  const Contract contract = sample();
  const DimensionSpace space(contract);
  EXPECT_EQ(space.elements({{"x.size(0)", INT64_MAX}, {"x.size(1)", 3}}), INT64_MAX);
}

}  // namespace
}  // namespace aotifuzz
