#include "core/size_functions.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

const Expr x = Expr::symbol("x");

TEST(SizeFunctions, UnknownFunctionsAndWrongCountsAreOpaque) {
  SizeFunctions functions;
  EXPECT_EQ(functions.call("OpaqueUnaryFn_sqrt", {x}).text(), "OpaqueUnaryFn_sqrt(x)");
  EXPECT_TRUE(functions.call("OpaqueUnaryFn_sqrt", {x}).has_opaque());
  EXPECT_TRUE(functions.call("Mod", {x}).has_opaque());
  EXPECT_TRUE(functions.call("Max", {}).has_opaque());
  EXPECT_TRUE(functions.call("Where", {x, x, x, x}).has_opaque());
}

TEST(SizeFunctions, ShiftsArePowersOfTwo) {
  SizeFunctions functions;
  const auto value = [](const Expr& e) {
    return e.evaluate([](const std::string&) { return std::optional<int64_t>(37); });
  };
  EXPECT_EQ(value(functions.call("LShift", {x, Expr::integer(3)})), 37 * 8);
  EXPECT_EQ(value(functions.call("RShift", {x, Expr::integer(3)})), 37 / 8);
}

TEST(SizeFunctions, RoundingAnIntegerChangesNothing) {
  SizeFunctions functions;
  EXPECT_EQ(functions.call("math.ceil", {x}), x);
  EXPECT_EQ(functions.call("Identity", {x}), x);
}

TEST(SizeFunctions, SizeOfExpressionsIsCountedUpToALimit) {
  EXPECT_FALSE(is_larger_than(x, 1));
  const Expr sum = Expr::make(ExprOp::kAdd, {x, x, x});
  EXPECT_FALSE(is_larger_than(sum, 4));
  EXPECT_TRUE(is_larger_than(sum, 3));
}

}  // namespace
}  // namespace aotifuzz
