#include "package/error_patterns.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "package/error_recogniser.h"

namespace aotifuzz {
namespace {

TEST(ErrorPatterns, EachRowRecognisesItsExamplesAndNoOtherTakesThem) {
  for (const ErrorPattern& row : error_patterns()) {
    EXPECT_FALSE(row.examples.empty()) << row.id << " has no text to test it with";
    for (const ErrorPattern::Example& example : row.examples) {
      EXPECT_STRNE(example.source, "") << row.id;
      const std::vector<RecognisedError> errors = recognise_errors(example.text);
      EXPECT_EQ(errors.size(), 1u) << row.id << ": " << example.text;
      if (!errors.empty()) {
        EXPECT_STREQ(errors[0].pattern->id, row.id) << example.text;
      }
    }
  }
}

TEST(ErrorPatterns, ReadmeNamesEachRow) {
  std::ifstream in(AOTIFUZZ_README);
  const std::string readme(std::istreambuf_iterator<char>(in), {});
  for (const ErrorPattern& row : error_patterns())
    EXPECT_NE(readme.find("`" + std::string(row.id) + "`"), std::string::npos) << row.id;
}

TEST(ErrorPatterns, EachRowSaysEverything) {
  std::set<std::string> ids;
  for (const ErrorPattern& row : error_patterns()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " stands there twice";
    EXPECT_FALSE(row.texts.empty()) << row.id;
    for (const char* text : {row.title, row.meaning, row.culprit, row.change}) EXPECT_STRNE(text, "") << row.id;
    for (const char* command : row.commands) EXPECT_TRUE(std::string(command).starts_with("aotifuzz ")) << row.id;
    EXPECT_EQ(find_error_pattern(row.id), &row);
  }
  EXPECT_EQ(find_error_pattern("nobody"), nullptr);
}

}  // namespace
}  // namespace aotifuzz
