#include "core/expr.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>

namespace aotifuzz {
namespace {

const Expr x = Expr::symbol("x"), y = Expr::symbol("y");
Expr num(int64_t value) { return Expr::integer(value); }
Expr op(ExprOp o, std::vector<Expr> args) { return Expr::make(o, std::move(args)); }

std::optional<int64_t> eval(const Expr& e, std::map<std::string, int64_t> values = {}) {
  return e.evaluate([&](const std::string& name) {
    const auto it = values.find(name);
    return it == values.end() ? std::optional<int64_t>() : std::optional(it->second);
  });
}

TEST(Expr, DivisionAndRemainderFollowPython) {
  const int64_t cases[][4] = {{7, 2, 3, 1},    {-7, 2, -4, 1}, {7, -2, -4, -1},
                              {-7, -2, 3, -1}, {6, 3, 2, 0},   {-6, 3, -2, 0}};
  for (const auto& [a, b, quotient, rest] : cases) {
    EXPECT_EQ(eval(op(ExprOp::kFloorDiv, {x, y}), {{"x", a}, {"y", b}}), quotient) << a << " // " << b;
    EXPECT_EQ(eval(op(ExprOp::kMod, {x, y}), {{"x", a}, {"y", b}}), rest) << a << " % " << b;
  }
  EXPECT_EQ(eval(op(ExprOp::kCeilDiv, {x, y}), {{"x", 7}, {"y", 2}}), 4);
  EXPECT_EQ(eval(op(ExprOp::kCeilDiv, {x, y}), {{"x", -7}, {"y", 2}}), -3);
  EXPECT_EQ(eval(op(ExprOp::kModularIndexing, {x, y, num(3)}), {{"x", 23}, {"y", 2}}), 2);
}

TEST(Expr, UndefinedValuesAreNothing) {
  EXPECT_EQ(eval(op(ExprOp::kFloorDiv, {x, y}), {{"x", 7}, {"y", 0}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kMod, {x, y}), {{"x", 7}, {"y", 0}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kFloorDiv, {x, y}), {{"x", INT64_MIN}, {"y", -1}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kMod, {x, y}), {{"x", INT64_MIN}, {"y", -1}}), 0);
  EXPECT_EQ(eval(op(ExprOp::kMul, {x, x}), {{"x", INT64_MAX}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kAdd, {x, num(1)}), {{"x", INT64_MAX}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kNeg, {x}), {{"x", INT64_MIN}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kPow, {x, num(-1)}), {{"x", 2}}), std::nullopt);
  EXPECT_EQ(eval(x), std::nullopt);
  EXPECT_EQ(eval(Expr::opaque("sqrt(x)")), std::nullopt);
}

TEST(Expr, HugeExponentsEnd) {
  EXPECT_EQ(eval(op(ExprOp::kPow, {x, y}), {{"x", 2}, {"y", INT64_MAX}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kPow, {x, y}), {{"x", -1}, {"y", INT64_MAX}}), -1);
  EXPECT_EQ(eval(op(ExprOp::kPow, {x, y}), {{"x", 0}, {"y", 0}}), 1);
  EXPECT_EQ(eval(op(ExprOp::kPow, {x, y}), {{"x", 2}, {"y", 62}}), int64_t{1} << 62);
}

TEST(Expr, DecidedOperandsProtectTheOthers) {
  const Expr divides = op(ExprOp::kEq, {op(ExprOp::kMod, {x, y}), num(0)});
  const Expr guarded = op(ExprOp::kOr, {op(ExprOp::kEq, {y, num(0)}), divides});
  EXPECT_EQ(eval(guarded, {{"x", 3}, {"y", 0}}), 1);
  EXPECT_EQ(eval(op(ExprOp::kAnd, {op(ExprOp::kNe, {y, num(0)}), divides}), {{"x", 3}, {"y", 0}}), 0);
  EXPECT_EQ(eval(op(ExprOp::kAnd, {divides, op(ExprOp::kNe, {y, num(0)})}), {{"x", 3}, {"y", 0}}), std::nullopt);
  EXPECT_EQ(eval(op(ExprOp::kWhere, {y, op(ExprOp::kFloorDiv, {x, y}), num(-1)}), {{"x", 3}, {"y", 0}}), -1);
}

TEST(Expr, TextReadsAsPythonMeansIt) {
  const Expr half = op(ExprOp::kFloorDiv, {x, num(2)});
  EXPECT_EQ(op(ExprOp::kEq, {op(ExprOp::kMod, {x, num(100)}), num(0)}).text(), "x % 100 == 0");
  EXPECT_EQ(op(ExprOp::kMul, {num(4), x}).text(), "4*x");
  EXPECT_EQ(op(ExprOp::kMul, {half, y}).text(), "(x // 2)*y");
  EXPECT_EQ(op(ExprOp::kMul, {y, half}).text(), "y*(x // 2)");
  EXPECT_EQ(op(ExprOp::kFloorDiv, {op(ExprOp::kMul, {x, y}), num(2)}).text(), "x*y // 2");
  EXPECT_EQ(op(ExprOp::kFloorDiv, {x, op(ExprOp::kMul, {num(2), y})}).text(), "x // (2*y)");
  EXPECT_EQ(op(ExprOp::kAdd, {num(-1), x}).text(), "x - 1");
  EXPECT_EQ(op(ExprOp::kAdd, {num(1), x}).text(), "x + 1");
  EXPECT_EQ(op(ExprOp::kAdd, {x, op(ExprOp::kMul, {num(-1), half})}).text(), "x - x // 2");
  EXPECT_EQ(op(ExprOp::kAdd, {op(ExprOp::kMul, {num(-1), half}), op(ExprOp::kMul, {num(-2), y})}).text(),
            "-(x // 2) - 2*y");
  EXPECT_EQ(op(ExprOp::kPow, {op(ExprOp::kAdd, {x, num(1)}), num(2)}).text(), "(x + 1)**2");
  EXPECT_EQ(op(ExprOp::kNot, {op(ExprOp::kOr, {x, y})}).text(), "not (x or y)");
  EXPECT_EQ(op(ExprOp::kMax, {x, num(1)}).text(), "max(x, 1)");
}

TEST(Expr, ConstantsFold) {
  EXPECT_EQ(op(ExprOp::kMul, {num(2), num(3)}), num(6));
  EXPECT_EQ(op(ExprOp::kFloorDiv, {num(2), num(0)}).text(), "2 // 0");  // undefined, so it stays as it is
  EXPECT_EQ(op(ExprOp::kAdd, {x}), x);
}

TEST(Expr, SubstitutionReplacesOnlyWhatItKnows) {
  const Expr e = op(ExprOp::kAdd, {x, op(ExprOp::kMul, {num(2), y})});
  const Expr replaced =
      e.substitute([](const std::string& name) { return name == "y" ? std::optional(num(5)) : std::optional<Expr>(); });
  EXPECT_EQ(replaced.text(), "x + 10");
  EXPECT_EQ(eval(replaced, {{"x", 1}}), 11);
}

TEST(Expr, SymbolsAndOpaquePartsAreFound) {
  const Expr e = op(ExprOp::kMax, {x, op(ExprOp::kAdd, {y, Expr::opaque("f(z)")})});
  std::set<std::string> names;
  e.collect_symbols(names);
  EXPECT_EQ(names, (std::set<std::string>{"x", "y"}));
  EXPECT_TRUE(e.has_opaque());
  EXPECT_FALSE(x.has_opaque());
}

TEST(Expr, EqualityIsStructural) {
  EXPECT_EQ(op(ExprOp::kAdd, {x, y}), op(ExprOp::kAdd, {x, y}));
  EXPECT_FALSE(op(ExprOp::kAdd, {x, y}) == op(ExprOp::kAdd, {y, x}));
  EXPECT_FALSE(op(ExprOp::kAdd, {x, y}) == op(ExprOp::kMul, {x, y}));
  EXPECT_FALSE(Expr::symbol("x") == Expr::opaque("x"));
}

TEST(ExprDeathTest, WrongArityIsOurBug) { EXPECT_DEATH(op(ExprOp::kMod, {x}), "internal error"); }

}  // namespace
}  // namespace aotifuzz
