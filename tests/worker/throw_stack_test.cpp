#include "worker/throw_stack.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "worker/crash_symbols.h"

namespace aotifuzz {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ThrowStack, LeadsToTheFunctionThatThrew) {
  ThrowStack throws;
  EXPECT_TRUE(throws.frames().empty());
  EXPECT_THROW(at::empty({2, 3}).mm(at::empty({4, 5})), c10::Error);
  const std::string stack = CrashSymbols().stack_text(throws.frames(), true, 1 << 16);
  EXPECT_THAT(stack, HasSubstr("(libtorch_cpu.so)"));
  EXPECT_THAT(stack, Not(HasSubstr("__cxa_throw"))) << "our own frames say nothing";
}

TEST(ThrowStack, TheFirstExceptionCounts) {
  ThrowStack throws;
  EXPECT_THROW(at::empty({-1}), c10::Error);
  const std::vector<uint64_t> first = throws.frames();
  EXPECT_THROW(throw std::runtime_error("again"), std::runtime_error);
  EXPECT_EQ(throws.frames(), first);
  EXPECT_FALSE(first.empty());
}

TEST(ThrowStack, WhoWasToldBeforeIsToldAgainAfterIt) {
  const ThrowObserver before = observe_throws(nullptr);
  { ThrowStack throws; }
  EXPECT_EQ(observe_throws(before), nullptr);
}

TEST(ThrowStack, OutsideNothingIsKept) {
  { ThrowStack throws; }
  EXPECT_THROW(throw std::runtime_error("plain"), std::runtime_error);
  ThrowStack throws;
  EXPECT_TRUE(throws.frames().empty());
}

TEST(CrashSymbols, AStackIsCutAtItsLimit) {
  const std::vector<uint64_t> frames(40, 1);
  EXPECT_EQ(CrashSymbols().stack_text(frames, false, 3), "?");
  EXPECT_EQ(CrashSymbols().stack_text(frames, false, 1), "");
}

}  // namespace
}  // namespace aotifuzz
