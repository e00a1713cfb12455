#include "store/tool_output.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(ToolOutput, IsWhatTheProgramPrintsAndNothingElse) {
  EXPECT_EQ(tool_output({"printf", "%s|", "a b", "$HOME", "'"}), "a b|$HOME|'|") << "no shell in between";
  EXPECT_EQ(tool_output({"sh", "-c", "echo seen; echo unseen >&2; exit 3"}), "seen\n");
  EXPECT_EQ(tool_output({"sh", "-c", "yes | head -c 100000"}).size(), 100000u);
  EXPECT_EQ(tool_output({"aotifuzz-no-such-program"}), "");
}

}  // namespace
}  // namespace aotifuzz
