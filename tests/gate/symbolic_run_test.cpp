#include "gate/symbolic_run.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace aotifuzz {
namespace {

TEST(SymbolicRun, ExceptionsOfLibrariesAreNotedAndArrive) {
  const SymbolValues values;
  const std::vector<std::string> names;
  const SymbolicRun run(values, values, names);
  ASSERT_TRUE(run.throw_frames().empty());
  bool arrived = false;
  try {
    at::empty({-1});
  } catch (const c10::Error&) {
    arrived = true;
  }
  EXPECT_TRUE(arrived);
  EXPECT_GT(run.throw_frames().size(), 1u);
}

TEST(SymbolicRun, OutsideOfARunExceptionsAreNobodysBusiness) {
  EXPECT_THROW(throw std::runtime_error("plain"), std::runtime_error);
  EXPECT_THROW(at::empty({-1}), c10::Error);
}

}  // namespace
}  // namespace aotifuzz
