#include "core/choices.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace aotifuzz {
namespace {

TEST(Choices, AnEmptyBufferGivesTheSimplestOfEverything) {
  BytesChoices choices({});
  EXPECT_EQ(choices.below(1000), 0u);
  EXPECT_EQ(choices.between(-3, 9), -3);
  EXPECT_EQ(choices.weighted(std::array<int, 3>{0, 2, 5}), 1u);
}

TEST(Choices, ABufferRunsOutInTheMiddleOfANumberWithoutReadingPastIt) {
  const std::array<uint8_t, 3> bytes = {7, 1, 2};
  BytesChoices choices(bytes);
  EXPECT_EQ(choices.below(256), 7u);
  EXPECT_EQ(choices.below(uint64_t{1} << 32), 0u);
  EXPECT_EQ(choices.below(256), 0u);
}

TEST(Choices, ABoundOfOneUsesNoBytes) {
  const std::array<uint8_t, 1> bytes = {9};
  BytesChoices choices(bytes);
  EXPECT_EQ(choices.below(1), 0u);
  EXPECT_EQ(choices.below(10), 9u);
}

TEST(Choices, BetweenReachesBothEndsOfTheWholeRange) {
  std::array<uint8_t, 16> bytes;
  bytes.fill(0xff);
  BytesChoices high(bytes);
  EXPECT_EQ(high.between(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::max());
  BytesChoices low({});
  EXPECT_EQ(low.between(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::min());
}

TEST(Choices, WeightedSkipsWhatHasNoWeight) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::array<uint8_t, 1> bytes = {static_cast<uint8_t>(byte)};
    BytesChoices choices(bytes);
    const size_t picked = choices.weighted(std::array<int, 4>{0, 3, -5, 1});
    EXPECT_EQ(picked, byte % 4 < 3 ? 1u : 3u);
  }
}

TEST(ChoicesDeathTest, WeightsThatAreAllZeroAreABugOfTheCaller) {
  BytesChoices choices({});
  EXPECT_DEATH(choices.weighted(std::array<int, 2>{0, 0}), "none positive");
}

}  // namespace
}  // namespace aotifuzz
