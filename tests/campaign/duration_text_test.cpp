#include "campaign/duration_text.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

using std::chrono::milliseconds;

TEST(DurationText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_duration("90"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("20s"), milliseconds(20'000));
  EXPECT_EQ(parse_duration("1.5m"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("8h"), milliseconds(8 * 3'600'000));
  EXPECT_EQ(parse_duration("1h30m"), milliseconds(90 * 60'000));
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("2d"), milliseconds(48 * 3'600'000));
}

TEST(DurationText, RefusesTheRest) {
  for (const char* text : {"", "s", "-1s", "10x", "10 s", "1h30", "nan", "inf", "1e9h", "99999999999h", "400d"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(DurationText, PrintsWhatPeopleRead) {
  EXPECT_EQ(print_duration(12.34), "12.3 s");
  EXPECT_EQ(print_duration(200), "3 min 20 s");
  EXPECT_EQ(print_duration(7500), "2 h 05 min");
}

}  // namespace
}  // namespace aotifuzz
