#include "core/torch_version.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(TorchVersion, ReadsReleasesAndBuilds) {
  EXPECT_EQ(parse_torch_version("2.15.0")->text(), "2.15.0");
  EXPECT_EQ(parse_torch_version("2.15.0+cu132")->text(), "2.15.0");
  EXPECT_EQ(parse_torch_version("2.12")->text(), "2.12.0");
  EXPECT_EQ(parse_torch_version("2.16.0a0+git1a2b3c")->text(), "2.16.0");
  EXPECT_EQ(parse_torch_version("2.14.1rc2")->text(), "2.14.1");
  EXPECT_EQ(parse_torch_version("2.16.0.dev20261130+cpu")->text(), "2.16.0");
}

TEST(TorchVersion, RefusesWhatIsNone) {
  for (const char* text : {"", "2", "2.", "a.b", "2.x", "2.15.", "2.15.0.1", "-2.15.0", " 2.15.0", "2.15.0 ",
                           "99999.1.1", "2.15.0x", "main"})
    EXPECT_FALSE(parse_torch_version(text)) << text;
}

TEST(TorchVersion, OrdersByNumberNotByText) {
  EXPECT_LT(*parse_torch_version("2.9.1"), *parse_torch_version("2.11.0"));
  EXPECT_LT(*parse_torch_version("2.14.1"), *parse_torch_version("2.15.0"));
  EXPECT_EQ(*parse_torch_version("2.15"), *parse_torch_version("2.15.0+cpu"));
}

TEST(TorchRange, EveryConditionMustHold) {
  const auto range = TorchRange::parse(">=2.11,<2.13");
  ASSERT_TRUE(range);
  EXPECT_FALSE(range->holds({2, 10, 1}));
  EXPECT_TRUE(range->holds({2, 11, 0}));
  EXPECT_TRUE(range->holds({2, 12, 1}));
  EXPECT_FALSE(range->holds({2, 13, 0}));
  EXPECT_TRUE(TorchRange::parse("!= 2.12.1, > 2.11")->holds({2, 12, 0}));
  EXPECT_FALSE(TorchRange::parse("!= 2.12.1, > 2.11")->holds({2, 12, 1}));
  EXPECT_FALSE(TorchRange::parse(">2.11.0")->holds({2, 11, 0}));
  EXPECT_TRUE(TorchRange::parse("<=2.11.0")->holds({2, 11, 0}));
  EXPECT_TRUE(TorchRange::parse("==2.14.1")->holds({2, 14, 1}));
  EXPECT_TRUE(TorchRange::parse("")->holds({1, 0, 0}));
}

TEST(TorchRange, RefusesWhatIsNone) {
  for (const char* text : {"2.11", "~=2.11", ">=", ">=2.11,", ",<2.13", "=2.11", ">=2.11 <2.13", "<x"})
    EXPECT_FALSE(TorchRange::parse(text)) << text;
}

}  // namespace
}  // namespace aotifuzz
