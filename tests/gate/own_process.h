#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace aotifuzz::test {

/// Runs `body` with its expectations in a forked process: what it installs cannot be taken out again. Its failures fail
/// the test.
template <class Body>
void in_own_process(Body body) {
  EXPECT_EXIT(
      {
        body();
        std::exit(::testing::Test::HasFailure() ? 1 : 0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace aotifuzz::test
