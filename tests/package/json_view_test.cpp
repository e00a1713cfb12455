#include "package/json_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

template <class Read>
std::string error_of(const std::string& text, Read read) {
  const auto result = read_json(text, "doc", [&](const JsonView& root) { return read(root), 0; });
  return result ? "" : result.error().where + " | " + result.error().what;
}

TEST(JsonView, ErrorsNameThePath) {
  const std::string text = R"({"nodes": [{"target": "a"}, {"target": 5}]})";
  EXPECT_EQ(error_of(text, [](const JsonView& root) { return root.at("nodes")[1].at("target").string(); }),
            "doc: nodes[1].target | expected a string, found number");
  EXPECT_EQ(error_of(text, [](const JsonView& root) { return root.at("nodes")[0].at("name").string(); }),
            "doc: nodes[0] | key 'name' is missing");
}

TEST(JsonView, WrongTypesAreErrors) {
  EXPECT_NE(error_of("[]", [](const JsonView& v) { return v.at("x").is_null(); }), "");
  EXPECT_NE(error_of("{}", [](const JsonView& v) { return v.size(); }), "");
  EXPECT_NE(error_of("1.5", [](const JsonView& v) { return v.integer(); }), "");
  EXPECT_NE(error_of("true", [](const JsonView& v) { return v.integer(); }), "");
  EXPECT_NE(error_of("1", [](const JsonView& v) { return v.boolean(); }), "");
  EXPECT_NE(error_of("\"1\"", [](const JsonView& v) { return v.real(); }), "");
  EXPECT_NE(error_of("{\"a\": 1, \"b\": 2}", [](const JsonView& v) { return v.arm().first; }), "");
  EXPECT_NE(error_of("18446744073709551615", [](const JsonView& v) { return v.integer(); }), "");
  EXPECT_NE(error_of("99999999999999999999999", [](const JsonView& v) { return v.integer(); }), "");
}

TEST(JsonView, FloatsComeAsNumbersOrAsExportsWords) {
  const auto real = [](const char* text) {
    return *read_json(text, "doc", [](const JsonView& v) { return v.real(); });
  };
  EXPECT_EQ(real("2"), 2.0);
  EXPECT_EQ(real("\"-Infinity\""), -INFINITY);
  EXPECT_EQ(real("\"Infinity\""), INFINITY);
  EXPECT_TRUE(std::isnan(real("\"NaN\"")));
}

TEST(JsonView, NullCountsAsAbsent) {
  EXPECT_EQ(error_of(R"({"a": null})",
                     [](const JsonView& v) {
                       if (v.find("a") || v.find("b")) v.fail("found");
                       return 0;
                     }),
            "");
}

TEST(JsonView, MalformedTextIsAnError) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "\"\\ud800\"", "[1] x", "\xff\xfe"})
    EXPECT_FALSE(parse_json(text, "doc")) << text;
}

TEST(JsonView, DeepNestingIsRefused) {
  const std::string deep(100'000, '[');
  const Result<nlohmann::json> result = parse_json(deep, "doc");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().what, HasSubstr("nested"));
  EXPECT_TRUE(parse_json("\"" + deep + "\"", "doc")) << "brackets in a string do not nest";
  EXPECT_TRUE(parse_json(R"(["\"[[[\\", 1])", "doc"));
}

}  // namespace
}  // namespace aotifuzz
