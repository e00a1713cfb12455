#include "campaign/recipe_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A program in Python's place that does what the functions are called after.
constexpr const char* kPython = R"(#!/bin/sh
# -m aotifuzz_pack TARGET... -o FOLDER --failures FILE --limit SECONDS
shift 2
targets= failed=
while [ "$1" != -o ]; do targets="$targets $1"; shift; done
for target in $targets; do
  function=${target##*:}; file=${target%:*}; stem=$(basename "$file" .py).$function
  case $function in
    good) echo "$file" > "$2/$stem.pt2" ;;
    refused) failed="$failed${failed:+, }\"$stem\": {\"what\": \"compiling failed: x\", \"compiler\": true}" ;;
    absent) failed="$failed${failed:+, }\"$stem\": {\"what\": \"no such module\", \"compiler\": false}" ;;
    crash) kill -SEGV $$ ;;
    killed) kill -KILL $$ ;;
    gone) exit 1 ;;
    slow) failed="$failed${failed:+, }\"$stem\": {\"what\": \"more than $6 s\", \"compiler\": false}" ;;
  esac
  echo "{$failed}" > "$4"
done
)";

class RecipePacker : public ::testing::Test {
 protected:
  RecipePacker() {
    std::string name = (fs::temp_directory_path() / "aotifuzz-packer-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    build_.version = {2, 15, 0};
    build_.python = (root_ / "python").string();
    build_.pack = "/nowhere";
    std::ofstream(build_.python) << kPython;
    fs::permissions(build_.python, fs::perms::owner_all);
  }
  ~RecipePacker() override { fs::remove_all(root_); }
  std::map<std::string, PackedRecipe> pack(const std::vector<RecipeSource>& recipes) {
    return pack_recipes(build_, recipes, (root_ / "out").string(), std::chrono::seconds(7));
  }
  CorpusEntry entry(const std::string& recipe) {
    fs::create_directories(root_ / "corpus/regressions/one");
    CorpusEntry out;
    out.path = (root_ / "corpus/regressions/one/case.txt").string();
    out.expectation.emplace();
    out.expectation->recipe = recipe;
    return out;
  }
  fs::path root_;
  TorchBuild build_;
};

TEST_F(RecipePacker, WhateverOneRecipeDoesTheOthersArePacked) {
  const auto packed = pack({{"m/a.py", "good"},
                            {"m/a.py", "crash"},
                            {"m/a.py", "killed"},
                            {"m/a.py", "gone"},
                            {"m/b.py", "refused"},
                            {"m/c.py", "absent"},
                            {"m/c.py", "slow"},
                            {"m/d.py", "good"}});
  ASSERT_EQ(packed.size(), 8u);
  EXPECT_NE(packed.at("m/a.py:good").path, "");
  EXPECT_NE(packed.at("m/d.py:good").path, "");
  EXPECT_THAT(packed.at("m/a.py:crash").why_not, HasSubstr("signal 11"));
  EXPECT_TRUE(packed.at("m/a.py:crash").by_compiler);
  EXPECT_FALSE(packed.at("m/a.py:killed").by_compiler) << "somebody killed it";
  EXPECT_FALSE(packed.at("m/a.py:gone").by_compiler);
  EXPECT_TRUE(packed.at("m/b.py:refused").by_compiler);
  EXPECT_EQ(packed.at("m/c.py:slow").why_not, "more than 7 s");
  EXPECT_EQ(packed.at("m/c.py:absent").why_not, "no such module");
  EXPECT_FALSE(packed.at("m/c.py:absent").by_compiler);
}

TEST_F(RecipePacker, TheSameNameInTwoFoldersIsTwoModels) {
  const auto packed = pack({{"one/a.py", "good"}, {"two/a.py", "good"}});
  const auto source = [](const std::string& path) {
    std::ifstream in(path);
    std::string out;
    in >> out;
    return out;
  };
  EXPECT_EQ(source(packed.at("one/a.py:good").path), "one/a.py");
  EXPECT_EQ(source(packed.at("two/a.py:good").path), "two/a.py");
}

TEST_F(RecipePacker, ABuildWithoutPythonOrWithOneThatDoesNotStartIsSaid) {
  build_.python = "/nowhere/python";
  EXPECT_THROW(pack({{"m/a.py", "good"}}), HarnessError);
  build_.python = "";
  EXPECT_THROW(pack({{"m/a.py", "good"}}), HarnessError);
  EXPECT_TRUE(pack({}).empty());
}

TEST_F(RecipePacker, ARecipeIsLookedForInTheFoldersAboveTheCase) {
  fs::create_directories(root_ / "corpus/models");
  std::ofstream(root_ / "corpus/models/faults.py") << "\n";
  const RecipeSource source = recipe_of(entry("faults.a_model"), root_.string());
  EXPECT_EQ(source.file, (root_ / "corpus/models/faults.py").string());
  EXPECT_EQ(source.name(), "faults.a_model");
  EXPECT_THROW(recipe_of(entry("other.a_model"), root_.string()), HarnessError);
  for (const char* name : {"faults", "faults.", ".a", "a.b.c", "../faults.a", "faults.a b", "sub/faults.a"})
    EXPECT_THROW(recipe_of(entry(name), root_.string()), HarnessError) << name;
  CorpusEntry bare;
  bare.path = entry("faults.a").path;
  EXPECT_THROW(recipe_of(bare, root_.string()), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
