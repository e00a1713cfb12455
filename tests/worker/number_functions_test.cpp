#include "worker/number_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace aotifuzz {
namespace {

c10::IValue call(const char* target, std::vector<c10::IValue> arguments) {
  const NumberFunction function = find_number_function(target);
  if (!function) throw std::logic_error(target);
  return function(arguments);
}
constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
c10::IValue i(int64_t v) { return v; }

TEST(NumberFunctions, UnknownTargetsHaveNone) { EXPECT_EQ(find_number_function("torch.sym_surprise"), nullptr); }

TEST(NumberFunctions, DivisionAndRemainderRoundAsPythonDoes) {
  EXPECT_EQ(call("_operator.floordiv", {i(-7), i(2)}).toInt(), -4);
  EXPECT_EQ(call("_operator.mod", {i(-7), i(2)}).toInt(), 1);
  EXPECT_EQ(call("_operator.mod", {i(7), i(-2)}).toInt(), -1);
  EXPECT_EQ(call("_operator.mod", {i(kMin), i(-1)}).toInt(), 0);
  EXPECT_EQ(call("_operator.floordiv", {1.0, 0.1}).toDouble(), 9.0);
  EXPECT_EQ(call("_operator.mod", {-1.0, 3.0}).toDouble(), 2.0);
  EXPECT_EQ(call("_operator.truediv", {i(7), i(2)}).toDouble(), 3.5);
  EXPECT_EQ(call("_operator.pow", {i(2), i(-1)}).toDouble(), 0.5);
  EXPECT_EQ(call("_operator.pow", {i(-3), i(3)}).toInt(), -27);
}

TEST(NumberFunctions, WhatPythonRaisesIsThrown) {
  EXPECT_THROW(call("_operator.floordiv", {i(1), i(0)}), std::runtime_error);
  EXPECT_THROW(call("_operator.mod", {i(1), i(0)}), std::runtime_error);
  EXPECT_THROW(call("_operator.truediv", {1.0, 0.0}), std::runtime_error);
  EXPECT_THROW(call("_operator.pow", {2.0, i(2000)}), std::runtime_error);
  EXPECT_THROW(call("_operator.lshift", {i(1), i(-1)}), std::runtime_error);
  EXPECT_THROW(call("math.sqrt", {-1.0}), std::runtime_error);
  EXPECT_THROW(call("torch.sym_int", {std::nan("")}), std::runtime_error);
}

TEST(NumberFunctions, IntegersNeverWrap) {
  EXPECT_THROW(call("_operator.mul", {i(kMax), i(2)}), std::runtime_error);
  EXPECT_THROW(call("_operator.add", {i(kMax), i(1)}), std::runtime_error);
  EXPECT_THROW(call("_operator.neg", {i(kMin)}), std::runtime_error);
  EXPECT_THROW(call("_operator.floordiv", {i(kMin), i(-1)}), std::runtime_error);
  EXPECT_THROW(call("_operator.pow", {i(10), i(19)}), std::runtime_error);
  EXPECT_EQ(call("_operator.pow", {i(10), i(18)}).toInt(), 1000000000000000000);
  EXPECT_THROW(call("_operator.lshift", {i(1), i(63)}), std::runtime_error);
  EXPECT_EQ(call("_operator.lshift", {i(1), i(62)}).toInt(), int64_t{1} << 62);
}

TEST(NumberFunctions, ComparisonsGiveBoolsAndMixedArithmeticGivesFloats) {
  EXPECT_TRUE(call("_operator.ge", {i(3), i(3)}).isBool());
  EXPECT_FALSE(call("_operator.lt", {i(kMax), i(kMax - 1)}).toBool());  // as doubles these are equal
  EXPECT_TRUE(call("_operator.gt", {i(kMax), i(kMax - 1)}).toBool());
  EXPECT_TRUE(call("_operator.add", {i(1), 2.0}).isDouble());
  EXPECT_EQ(call("_operator.add", {true, true}).toInt(), 2);
  EXPECT_TRUE(call("_operator.and_", {true, false}).isBool());
  EXPECT_TRUE(call("torch.sym_max", {i(1), 2.0}).isDouble());
  EXPECT_EQ(call("torch.sym_min", {i(1), i(2)}).toInt(), 1);
  EXPECT_EQ(call("torch.sym_ite", {true, i(5), i(6)}).toInt(), 5);
  EXPECT_EQ(call("torch.sym_int", {-2.7}).toInt(), -2);
  EXPECT_EQ(call("math.floor", {-2.5}).toInt(), -3);
  EXPECT_EQ(call("builtins.round", {2.5}).toInt(), 2);
  EXPECT_TRUE(call("torch.sym_not", {false}).toBool());
}

TEST(NumberFunctions, TooFewArgumentsAreAnErrorNotACrash) {
  EXPECT_THROW(call("_operator.add", {i(1)}), std::runtime_error);
  EXPECT_THROW(call("_operator.pos", {}), std::exception);
}

}  // namespace
}  // namespace aotifuzz
