#include "package/size_relations.h"

#include <gtest/gtest.h>

#include "core/guard_parser.h"

namespace aotifuzz {
namespace {

Expr parse(const char* text) { return *parse_size_text(text); }

TEST(SizeRelations, CanonicalFormIgnoresTheOrderOfOperands) {
  EXPECT_EQ(canonical(parse("a == b*c")), canonical(parse("c*b == a")));
  EXPECT_EQ(canonical(parse("2*a + 1")), canonical(parse("1 + a*2")));
  EXPECT_FALSE(canonical(parse("a - b")) == canonical(parse("b - a")));
  EXPECT_FALSE(canonical(parse("a < b")) == canonical(parse("b < a")));
  EXPECT_EQ(canonical(parse("a + b == b + a")), Expr::integer(1));
}

TEST(SizeRelations, BoundsOfAffineComparisons) {
  const auto bound = [](const char* text) {
    const std::optional<LinearBound> b = linear_bound(parse(text));
    return b ? b->dimension + (b->lower ? " >= " : " <= ") + std::to_string(b->limit) : std::string("none");
  };
  EXPECT_EQ(bound("x.size(0) - 1 >= 2"), "x.size(0) >= 3");
  EXPECT_EQ(bound("x.size(0) > 5"), "x.size(0) >= 6");
  EXPECT_EQ(bound("5 < x.size(0)"), "x.size(0) >= 6");
  EXPECT_EQ(bound("x.size(0) < 5"), "x.size(0) <= 4");
  EXPECT_EQ(bound("2*x.size(0) <= 7"), "x.size(0) <= 3");
  EXPECT_EQ(bound("2*x.size(0) >= 7"), "x.size(0) >= 4");
  EXPECT_EQ(bound("10 - x.size(0) >= 3"), "x.size(0) <= 7");
  EXPECT_EQ(bound("x.size(0)*x.size(0) >= 4"), "none");
  EXPECT_EQ(bound("x.size(0) >= y.size(0)"), "none");
  EXPECT_EQ(bound("x.size(0) // 2 >= 3"), "none");
  EXPECT_EQ(bound("x.size(0) == 3"), "none");
}

TEST(SizeRelations, DerivedDimensionsAreSolved) {
  SizeRelations relations;
  const std::optional<Derived> twice = relations.solve(parse("2*s + 1"), "x.size(0)");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->symbol, "s");
  EXPECT_EQ(twice->value.text(), "(x.size(0) - 1) // 2");
  EXPECT_EQ(twice->condition->text(), "(x.size(0) - 1) % 2 == 0");
  const std::optional<Derived> shifted = relations.solve(parse("s + 3"), "x.size(0)");
  ASSERT_TRUE(shifted);
  EXPECT_EQ(shifted->value.text(), "x.size(0) - 3");
  EXPECT_FALSE(shifted->condition);
  EXPECT_FALSE(relations.solve(parse("s*t"), "x.size(0)"));
  EXPECT_FALSE(relations.solve(parse("s*s"), "x.size(0)"));
  EXPECT_FALSE(relations.solve(parse("s // 2"), "x.size(0)"));
  relations.define("s", Expr::symbol("y.size(0)"));
  EXPECT_FALSE(relations.solve(parse("2*s"), "x.size(0)")) << "already known";
  EXPECT_EQ(relations.to_dimensions(parse("2*s + u")).text(), "2*y.size(0) + u");
}

TEST(SizeRelations, FixedDimensionsAreReplacedByWhatDecidesThem) {
  SizeRelations relations;
  relations.fix("i.size(0)", Expr::symbol("x.size(0)"));
  relations.fix("x.size(2)", Expr::integer(4));
  EXPECT_EQ(relations.reduced(parse("i.size(0) == x.size(0)")), Expr::integer(1));
  EXPECT_EQ(relations.reduced(parse("x.size(2) == 4")), Expr::integer(1));
  EXPECT_EQ(relations.reduced(parse("x.size(2) + i.size(0) >= 3")), canonical(parse("4 + x.size(0) >= 3")));
}

TEST(SizeRelations, DimensionNamesStartWithTheInput) {
  EXPECT_EQ(input_of_dimension("x.size(1)"), "x");
  EXPECT_EQ(input_of_dimension("n"), "n");
}

}  // namespace
}  // namespace aotifuzz
