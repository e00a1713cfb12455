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

PackageInfo compiled_for(const std::string& device) {
  PackageInfo info;
  info.path = "model.pt2";
  info.compiled.emplace();
  info.compiled->device = device;
  return info;
}

TEST(ChooseDevice, IsThePackagesOwnUnlessAnotherOfItsKindIsAskedFor) {
  EXPECT_EQ(choose_device(compiled_for("cpu"), ""), "");
  EXPECT_EQ(choose_device(compiled_for("cpu"), "cpu"), "");
  EXPECT_EQ(choose_device(compiled_for("cuda"), ""), "cuda:0");
  EXPECT_EQ(choose_device(compiled_for("cuda"), "cuda"), "cuda:0");
  EXPECT_EQ(choose_device(compiled_for("cuda"), "cuda:3"), "cuda:3");
}

TEST(ChooseDevice, RefusesWhatThePackageWasNotCompiledForAndWhatIsNoDevice) {
  EXPECT_THROW(choose_device(compiled_for("cpu"), "cuda"), HarnessError);
  EXPECT_THROW(choose_device(compiled_for("cuda"), "cpu"), HarnessError);
  EXPECT_THROW(choose_device(compiled_for("xpu"), ""), HarnessError);
  for (const char* text : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "cuda:99999"})
    EXPECT_THROW(choose_device(compiled_for("cuda"), text), UsageError) << text;
}

TEST(PackageSession, APackageThatIsNotThereIsAnErrorOfTheWorld) {
  SessionRequest request;
  request.package.path = "/nonexistent/model.pt2";
  EXPECT_THROW(PackageSession session(request), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
