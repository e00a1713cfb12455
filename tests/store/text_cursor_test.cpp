#include "store/text_cursor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace aotifuzz {
namespace {

TEST(TextCursor, WhatIsNotFoundIsLeftInPlace) {
  TextCursor cursor("  12abc");
  EXPECT_FALSE(cursor.integer());
  EXPECT_FALSE(cursor.number());
  EXPECT_FALSE(cursor.accept('['));
  EXPECT_FALSE(cursor.accept_word("abc"));
  EXPECT_EQ(cursor.identifier(), "");
  EXPECT_EQ(cursor.word(), "12abc");
  EXPECT_TRUE(cursor.at_end());
}

TEST(TextCursor, AnIntegerStaysAnIntegerAndTheRestIsADouble) {
  EXPECT_TRUE(same_number(*TextCursor("7").number(), int64_t{7}));
  EXPECT_TRUE(same_number(*TextCursor("7.0").number(), 7.0));
  EXPECT_TRUE(same_number(*TextCursor("1e3").number(), 1000.0));
  EXPECT_TRUE(same_number(*TextCursor("-2.5e-3").number(), -0.0025));
  EXPECT_TRUE(same_number(*TextCursor("nan").number(), std::nan("")));
  EXPECT_TRUE(same_number(*TextCursor("-inf").number(), -HUGE_VAL));
}

TEST(TextCursor, OnlyOneSpellingOfSpecialNumbersIsTaken) {
  for (const char* text : {"infinity", "NaN", "0x10", "1e999", "99999999999999999999", "--1", "+1", ".", "e"})
    EXPECT_FALSE(TextCursor(text).number()) << text;
}

TEST(TextCursor, UnsignedIntegersReachTheTop) {
  EXPECT_EQ(TextCursor("18446744073709551615").unsigned_integer(), ~uint64_t{0});
  EXPECT_FALSE(TextCursor("-1").unsigned_integer());
  EXPECT_FALSE(TextCursor("18446744073709551616").unsigned_integer());
}

TEST(TextCursor, MessagesHideControlCharacters) { EXPECT_EQ(TextCursor("a\x02z").rest_for_message(), "a?z"); }

}  // namespace
}  // namespace aotifuzz
