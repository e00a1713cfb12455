#include "worker/throw_observer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

int told = 0;

/// As in aotifuzz-worker, which is linked so too: libraries that are linked find it in the program.
TEST(ThrowObserver, LibrariesFindIt) { EXPECT_TRUE(throws_are_observed()); }

TEST(ThrowObserver, IsToldOfEachExceptionUntilAnotherOneIs) {
  told = 0;
  const ThrowObserver before = observe_throws([] { ++told; });
  EXPECT_THROW(at::empty({-1}), c10::Error);
  const int of_library = told;
  EXPECT_GE(of_library, 1);
  EXPECT_NE(observe_throws(before), nullptr);
  EXPECT_THROW(at::empty({-1}), c10::Error);
  EXPECT_EQ(told, of_library);
}

}  // namespace
}  // namespace aotifuzz
