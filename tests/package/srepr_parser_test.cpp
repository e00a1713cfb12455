#include "package/srepr_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace aotifuzz {
namespace {

std::string text_of(const std::string& srepr) {
  const Result<Expr> expr = parse_srepr(srepr);
  return expr ? expr->text() : "error: " + expr.error().what;
}

constexpr const char* kS = "Symbol('s27', positive=True, integer=True)";

TEST(SreprParser, ReadsWhatExportWrites) {
  const std::string s = kS;
  EXPECT_EQ(text_of(s), "s27");
  EXPECT_EQ(text_of("Mul(Integer(4), " + s + ")"), "4*s27");
  EXPECT_EQ(text_of("Add(" + s + ", Integer(-1))"), "s27 - 1");
  EXPECT_EQ(text_of("Mul(Symbol('s12', positive=True, integer=True), " + s + ")"), "s12*s27");
  EXPECT_EQ(text_of("FloorDiv(" + s + ", Integer(2))"), "s27 // 2");
  EXPECT_EQ(text_of("PythonMod(" + s + ", Integer(2))"), "s27 % 2");
  EXPECT_EQ(text_of("Pow(" + s + ", Integer(2))"), "s27**2");
  EXPECT_EQ(text_of("Max(Integer(1), " + s + ")"), "max(1, s27)");
  EXPECT_EQ(text_of("ModularIndexing(" + s + ", Integer(2), Integer(3))"), "modular_indexing(s27, 2, 3)");
  EXPECT_EQ(text_of("Equality(" + s + ", Integer(1))"), "s27 == 1");
  EXPECT_EQ(text_of("And(StrictLessThan(" + s + ", Integer(9)), Not(Unequality(" + s + ", Integer(4))))"),
            "s27 < 9 and not s27 != 4");
  EXPECT_EQ(text_of("true"), "1");
  EXPECT_EQ(text_of("Symbol('u0', integer=True)"), "u0");
}

TEST(SreprParser, RoundedDivisionsAreIntegerDivisions) {
  const std::string division = "IntTrueDiv(" + std::string(kS) + ", Integer(2))";
  EXPECT_EQ(text_of("FloorToInt(" + division + ")"), "s27 // 2");
  EXPECT_EQ(text_of("CeilToInt(" + division + ")"), "ceil_div(s27, 2)");
  const Result<Expr> truncated = parse_srepr("TruncToInt(" + division + ")");
  ASSERT_TRUE(truncated);
  for (int64_t value : {7, -7, 6, -6, 1, -1, 0})
    EXPECT_EQ(truncated->evaluate([&](const std::string&) { return value; }), value / 2) << value;
  EXPECT_TRUE(parse_srepr(division)->has_opaque());
}

TEST(SreprParser, WhatHasNoIntegerMeaningIsOpaque) {
  for (const char* text : {"Float('1.5', precision=53)", "Rational(1, 2)", "OpaqueUnaryFn_sqrt(Integer(2))", "int_oo",
                           "ToFloat(Symbol('s0', integer=True))", "Mod(Integer(1))", "Integer(99999999999999999999)"}) {
    const Result<Expr> expr = parse_srepr(text);
    ASSERT_TRUE(expr) << text;
    EXPECT_TRUE(expr->has_opaque()) << text;
  }
  EXPECT_TRUE(parse_srepr("Add(Integer(1), Float('1.5'))")->has_opaque());
}

TEST(SreprParser, MalformedTextIsAnError) {
  for (const char* text :
       {"", "(", "Symbol('s0'", "Symbol(s0)", "Symbol()", "Symbol('a', 'b')", "Add(Integer(1) Integer(2))",
        "Integer(1) x", "Add(,)", "'s0'", "Symbol('s0', positive=)", "Symbol('')"})
    EXPECT_FALSE(parse_srepr(text)) << text;
}

TEST(SreprParser, DepthAndLengthAreLimited) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "Abs(";
  EXPECT_FALSE(parse_srepr(deep.substr(0, 40'000)));
  EXPECT_FALSE(parse_srepr(deep));
  std::string wide = "Add(Integer(1)";
  for (int i = 0; i < 3000; ++i) wide += ", Integer(1)";
  EXPECT_EQ(text_of(wide + ")"), "3001");
}

TEST(SreprParser, NestedTruncationDoesNotGrowExponentially) {
  std::string text = kS;
  for (int i = 0; i < 45; ++i) text = "TruncToInt(IntTrueDiv(" + text + ", Integer(3)))";
  const Result<Expr> expr = parse_srepr(text);
  ASSERT_TRUE(expr);
  EXPECT_LT(expr->text().size(), 100'000u);
}

}  // namespace
}  // namespace aotifuzz
