#include "core/guard_parser.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace aotifuzz {
namespace {

std::optional<std::string> joined(const std::vector<std::string>& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : "_") + part;
  return out == "unknown" ? std::nullopt : std::optional(out);
}

std::string text_of(const std::string& guard) {
  const Result<Expr> expr = parse_guard(guard, joined);
  return expr ? expr->text() : "error: " + expr.error().what;
}

int64_t value_of(const std::string& text, std::map<std::string, int64_t> values = {}) {
  const Result<Expr> expr = parse_guard(text, joined);
  if (!expr) return -999;
  return expr
      ->evaluate([&](const std::string& name) {
        const auto it = values.find(name);
        return it == values.end() ? std::optional<int64_t>() : std::optional(it->second);
      })
      .value_or(-998);
}

TEST(GuardParser, ReadsWhatExportWrites) {
  EXPECT_EQ(text_of("L['i'].size()[1] == L['x'].size()[1]"), "i.size(1) == x.size(1)");
  EXPECT_EQ(text_of("(L['a'][0].size()[0] % 100) == 0"), "a_0.size(0) % 100 == 0");
  EXPECT_EQ(text_of("(-1) + L['a'][1].size()[0] >= 2"), "a_1.size(0) - 1 >= 2");
  // However a dim is spelled, it is one symbol: two names for it would be two unknowns.
  EXPECT_EQ(text_of("L['x'].size()[01] + L['x'].size()[-0] >= 2"), "x.size(1) + x.size(0) >= 2");
  EXPECT_EQ(text_of("100*(L['a'][0].size()[0] // 100) >= 2"), "100*(a_0.size(0) // 100) >= 2");
  EXPECT_EQ(text_of("L['a'][0].stride()[0] != (L['a'][0].size()[1]*L['a'][0].size()[2])"),
            "a_0.stride(0) != a_0.size(1)*a_0.size(2)");
  EXPECT_EQ(text_of("max(1, L['a'][0].size()[1] // 2) == L['n']"), "max(1, a_0.size(1) // 2) == n");
  EXPECT_EQ(text_of("L['d']['k'].b.size()[0] == L['x'].storage_offset()"), "d_k_b.size(0) == x.offset()");
  EXPECT_EQ(text_of("2*s81 + 1"), "2*s81 + 1");
  EXPECT_EQ(text_of("x.size(1) + y.stride(0) - z.offset()"), "x.size(1) + y.stride(0) - z.offset()");
}

TEST(GuardParser, OperatorsBindAsInPython) {
  EXPECT_EQ(value_of("2 + 3 * 4"), 14);
  EXPECT_EQ(value_of("20 // 3 * 2"), 12);
  EXPECT_EQ(value_of("-7 // 2"), -4);
  EXPECT_EQ(value_of("-7 % 3"), 2);
  EXPECT_EQ(value_of("-2 ** 2"), -4);
  EXPECT_EQ(value_of("2 ** 3 ** 2"), 512);
  EXPECT_EQ(value_of("7 - 2 - 1"), 4);
  EXPECT_EQ(value_of("2 * 7 % 4"), 2);
  EXPECT_EQ(value_of("not 1 == 2"), 1);
  EXPECT_EQ(value_of("0 and 0 or 1"), 1);
  EXPECT_EQ(value_of("not 0 and 0"), 0);
  EXPECT_EQ(value_of("-(2 + 3)"), -5);
  EXPECT_EQ(value_of("+3"), 3);
  EXPECT_EQ(value_of("True and not False"), 1);
}

TEST(GuardParser, ChainedComparisonsHoldTogether) {
  EXPECT_EQ(value_of("1 < n < 5", {{"n", 3}}), 1);
  EXPECT_EQ(value_of("1 < n < 5", {{"n", 7}}), 0);
  EXPECT_EQ(value_of("1 < n < 5", {{"n", 0}}), 0);
  EXPECT_EQ(value_of("3 > 2 == 1"), 0);  // (3 > 2) and (2 == 1)
}

TEST(GuardParser, RoundedTrueDivisionsAreIntegerDivisions) {
  EXPECT_EQ(value_of("math.ceil(n / 4)", {{"n", 9}}), 3);
  EXPECT_EQ(value_of("math.floor(n / 4)", {{"n", 9}}), 2);
  EXPECT_TRUE(parse_guard("L['x'].size()[0] / 2 > 1", joined)->has_opaque());
}

TEST(GuardParser, UnknownInputsAndFloatsAreOpaque) {
  for (const char* text :
       {"L['unknown'].size()[0] == 3", "L['x'].size()[0] > 1.5", "L['x'].dim() == 2", "L['x'].dtype() == 'f'",
        "frobnicate(L['x'].size()[0]) == 1", "L['x'].size() == 3", "n == 99999999999999999999"}) {
    const Result<Expr> expr = parse_guard(text, joined);
    ASSERT_TRUE(expr) << text;
    EXPECT_TRUE(expr->has_opaque()) << text;
  }
  EXPECT_TRUE(parse_size_text("L['x'].size()[0]")->has_opaque());
}

TEST(GuardParser, MalformedTextIsAnError) {
  for (const char* text : {"", "1 +", "(1", "1)", "L['x", "L['x'][", "1 2", "a.", "f(1,,2)", "f(", "x == == y",
                           "lambda: 0 @ 1", "L[x].size()[0]", "not", "L['x'].size(", "1 = 2", "\"a"})
    EXPECT_FALSE(parse_guard(text, joined)) << text;
}

TEST(GuardParser, WordsOfTheLanguageAreNoNames) {
  // "1 + not - g - g" would be printed as "not - 2*g + 1", which means something else.
  for (const char* text : {"1+ not-g-g", "x + and", "or", "min(not, 2)", "f(and)"})
    EXPECT_FALSE(parse_size_text(text)) << text;
  EXPECT_TRUE(parse_size_text("not x == 1 and notes == 2 or order > 3"));
}

TEST(GuardParser, DepthAndLengthAreLimited) {
  EXPECT_FALSE(parse_guard(std::string(50'000, '('), joined));
  EXPECT_FALSE(parse_guard(std::string(50'000, '-') + "1", joined));
  std::string nots;
  for (int i = 0; i < 10'000; ++i) nots += "not ";
  EXPECT_FALSE(parse_guard(nots + "1", joined));
  std::string powers = "1";
  for (int i = 0; i < 10'000; ++i) powers += "**1";
  EXPECT_FALSE(parse_guard(powers, joined));
  std::string quotients = "n";
  for (int i = 0; i < 10'000; ++i) quotients += "//2";
  EXPECT_FALSE(parse_guard(quotients, joined));
  EXPECT_FALSE(parse_guard(std::string(70'000, ' ') + "1", joined));
}

TEST(GuardParser, NestedChainsDoNotGrowExponentially) {
  std::string text = "n";
  for (int i = 0; i < 60; ++i) text = "(1 < " + text + " < 3)";
  const Result<Expr> expr = parse_guard(text, joined);
  if (expr) EXPECT_LT(expr->text().size(), 100'000u);
}

TEST(GuardParser, PrintedTextMeansTheSame) {
  // Every shape of operand on each side of every operator.
  const std::string operands[] = {
      "n",        "m",        "3",         "(-2)", "(n + m)",   "(n - m)", "n*m",
      "(n // 2)", "(n % 3)",  "(-n)",      "n**2", "max(n, m)", "(n < m)", "(n == 1 and m == 2)",
      "(not n)",  "(n or m)", "abs(n - 4)"};
  for (const std::string& left : operands)
    for (const char* op : {" + ", " - ", "*", " // ", " % ", " == ", " < ", " >= ", " and ", " or "})
      for (const std::string& right : operands) {
        const std::string text = left + op + right;
        const Result<Expr> expr = parse_guard(text, joined);
        ASSERT_TRUE(expr) << text;
        const std::string printed = expr->text();
        for (int64_t n : {-3, 0, 1, 2, 5})
          for (int64_t m : {-2, 1, 2, 7})
            ASSERT_EQ(value_of(text, {{"n", n}, {"m", m}}), value_of(printed, {{"n", n}, {"m", m}}))
                << text << " printed as " << printed;
      }
}

}  // namespace
}  // namespace aotifuzz
