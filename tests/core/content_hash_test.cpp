#include "core/content_hash.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

std::string hash_of(std::string_view text) {
  ContentHash hash;
  hash.add(text.data(), text.size());
  return hash.text();
}

TEST(ContentHash, DependsOnEveryByteAndOnTheLength) {
  EXPECT_NE(hash_of("abcdefgh"), hash_of("abcdefgi"));
  EXPECT_NE(hash_of("abc"), hash_of(std::string_view("abc\0", 4)));
  EXPECT_EQ(hash_of("abc").size(), 16u);
}

TEST(ContentHash, BlocksOfWholeWordsHashAsOne) {
  ContentHash parts;
  parts.add("abcdefgh", 8);
  parts.add("ijk", 3);
  EXPECT_EQ(parts.text(), hash_of("abcdefghijk"));
}

}  // namespace
}  // namespace aotifuzz
