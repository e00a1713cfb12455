#include "campaign/package_session.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

std::string spec(const std::string& arguments,
                 const std::string& keywords = R"({"type": "builtins.dict", "context": "[]", "children_spec": []})") {
  return R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": "builtins.tuple", "context": "null", "children_spec": [)" +
         arguments + "]}, " + keywords + "]}]";
}

const std::string kLeaf = R"({"type": null, "context": null, "children_spec": []})";

TEST(FlatArguments, PlainPositionalArgumentsAreFlat) {
  EXPECT_TRUE(takes_flat_arguments(""));
  EXPECT_TRUE(takes_flat_arguments(spec(kLeaf)));
  EXPECT_TRUE(takes_flat_arguments(spec(kLeaf + ", " + kLeaf)));
}

TEST(FlatArguments, NestingAndKeywordsAreNot) {
  EXPECT_FALSE(
      takes_flat_arguments(spec(R"({"type": "builtins.list", "context": "null", "children_spec": [)" + kLeaf + "]}")));
  EXPECT_FALSE(
      takes_flat_arguments(spec(R"({"type": "builtins.tuple", "context": "null", "children_spec": [)" + kLeaf + "]}")));
  EXPECT_FALSE(takes_flat_arguments(
      spec(kLeaf, R"({"type": "builtins.dict", "context": "[\"mask\"]", "children_spec": [)" + kLeaf + "]}")));
}

TEST(PackageSession, APackageThatIsNotThereIsAnErrorOfTheWorld) {
  SessionRequest request;
  request.package.path = "/nonexistent/model.pt2";
  EXPECT_THROW(PackageSession session(request), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
