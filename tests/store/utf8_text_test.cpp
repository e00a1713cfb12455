#include "store/utf8_text.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(Utf8Text, KeepsWhatIsRight) {
  const std::string text = "tab\t line\n caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x94\xA5 \xEF\xBF\xBD";
  EXPECT_EQ(clean_utf8(text), text);
}

TEST(Utf8Text, EachWrongByteBecomesAReplacementCharacter) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_utf8("a\xFFz"), "a" + r + "z");
  EXPECT_EQ(clean_utf8("\xC3"), r) << "cut short";
  EXPECT_EQ(clean_utf8("\x80z"), r + "z") << "no lead";
  EXPECT_EQ(clean_utf8("\xC0\xAF"), r + r) << "overlong /";
  EXPECT_EQ(clean_utf8("\xE0\x80\xAF"), r + r + r) << "overlong /";
  EXPECT_EQ(clean_utf8("\xF4\x90\x80\x80"), r + r + r + r) << "beyond U+10FFFF";
  EXPECT_EQ(clean_utf8("\xED\xA0\x80"), r) << "a surrogate is one character that no XML takes";
}

TEST(Utf8Text, WhatXmlDoesNotTakeIsReplaced) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_utf8(std::string_view("a\0b\x1B[31m", 8)), "a" + r + "b" + r + "[31m");
  EXPECT_EQ(clean_utf8("\xEF\xBF\xBE\xEF\xBF\xBF"), r + r) << "U+FFFE, U+FFFF";
}

TEST(Utf8Text, CutsBetweenCharactersAndCountsTheRest) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abcdef", 3), "abc [3 more bytes]");
  EXPECT_EQ(cut_utf8("ab\xE2\x82\xAC", 4), "ab [3 more bytes]");
}

}  // namespace
}  // namespace aotifuzz
