#include "campaign/torch_builds.h"

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
using ::testing::IsEmpty;

class TorchBuilds : public ::testing::Test {
 protected:
  TorchBuilds() {
    std::string name = (fs::temp_directory_path() / "aotifuzz-builds-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~TorchBuilds() override { fs::remove_all(root_); }
  void add(const std::string& folder, const std::string& text, bool with_worker = true) {
    fs::create_directories(root_ / folder);
    std::ofstream(root_ / folder / kTorchBuildFile) << text;
    if (!with_worker) return;
    std::ofstream(root_ / folder / "aotifuzz-worker") << "#!/bin/sh\n";
    fs::permissions(root_ / folder / "aotifuzz-worker", fs::perms::owner_all);
  }
  void add_version(const std::string& folder, const std::string& version) {
    add(folder, R"({"torch": ")" + version + R"(", "python": "/p", "libraries": "/l", "pack": "/k"})");
  }
  std::vector<std::string> versions(const std::string& folder) {
    std::vector<std::string> out;
    for (const TorchBuild& build : torch_builds((root_ / folder).string(), &problems_))
      out.push_back(build.version.text());
    return out;
  }
  fs::path root_;
  std::vector<std::string> problems_;
};

TEST_F(TorchBuilds, AreInTheFolderItselfAndBelowIt) {
  add_version("build", "2.15.0+cu132");
  add_version("build/torch-2.9.1", "2.9.1");
  add_version("build/torch-2.11.0", "2.11.0+cu130");
  add_version("build/other", "2.12.0");
  fs::create_directories(root_ / "build/torch-2.13.0");  // never configured
  add("build/torch-2.14.1", R"({"torch": "2.14.1"})", /*with_worker=*/false);
  EXPECT_EQ(versions("build"), (std::vector<std::string>{"2.15.0", "2.11.0", "2.9.1"}));
  EXPECT_THAT(problems_, IsEmpty());
  const TorchBuild own = torch_builds((root_ / "build").string()).front();
  EXPECT_EQ(own.full_version, "2.15.0+cu132");
  EXPECT_EQ(own.python, "/p");
  EXPECT_EQ(own.libraries, "/l");
  EXPECT_EQ(own.pack, "/k");
}

TEST_F(TorchBuilds, FromOneOfThemTheOthersAreSeenAndItsOwnComesFirst) {
  add_version("build", "2.15.0");
  add_version("build/torch-2.11.0", "2.11.0");
  add_version("build/torch-2.12.1", "2.12.1");
  EXPECT_EQ(versions("build/torch-2.11.0"), (std::vector<std::string>{"2.11.0", "2.15.0", "2.12.1"}));
}

TEST_F(TorchBuilds, WhatCannotBeReadIsSaid) {
  add("build", "{");
  add("build/torch-2.11.0", R"({"torch": "newest"})");
  add("build/torch-2.12.0", R"({"torch": 2})");
  EXPECT_THAT(versions("build"), IsEmpty());
  EXPECT_EQ(problems_.size(), 3u);
  EXPECT_THAT(versions("nowhere"), IsEmpty());
}

std::vector<TorchBuild> builds_of(const std::vector<std::string>& versions) {
  std::vector<TorchBuild> out;
  for (const std::string& version : versions) {
    TorchBuild build;
    build.version = *parse_torch_version(version);
    build.full_version = version;
    build.folder = "/" + version;
    out.push_back(build);
  }
  return out;
}

TEST(ChooseTorch, ThePackagesOwnVersionWithoutAWord) {
  const TorchChoice choice = choose_torch(builds_of({"2.15.0", "2.13.0", "2.11.0"}), "2.11.0+cu130", "");
  EXPECT_EQ(choice.build.folder, "/2.11.0");
  EXPECT_EQ(choice.note, "");
}

TEST(ChooseTorch, TheNearestNewerOneElseTheNewestOlderOneAndSaysSo) {
  const TorchChoice newer = choose_torch(builds_of({"2.15.0", "2.13.0", "2.11.0"}), "2.12.1", "");
  EXPECT_EQ(newer.build.folder, "/2.13.0");
  EXPECT_THAT(newer.note, HasSubstr("compiled by torch 2.12.1 and runs with torch 2.13.0"));
  EXPECT_THAT(newer.note, HasSubstr("AOTIFUZZ_TORCH=2.12.1"));
  EXPECT_EQ(choose_torch(builds_of({"2.11.0", "2.13.0"}), "2.15.0", "").build.folder, "/2.13.0");
}

TEST(ChooseTorch, TheFirstBuildWhenNobodyKnowsTheVersion) {
  for (const char* unknown : {"", "nightly"}) {
    const TorchChoice choice = choose_torch(builds_of({"2.11.0", "2.15.0"}), unknown, "");
    EXPECT_EQ(choice.build.folder, "/2.11.0");
    EXPECT_EQ(choice.note, "");
  }
}

TEST(ChooseTorch, WhatIsRequestedAndNothingElse) {
  const auto builds = builds_of({"2.15.0", "2.14.0", "2.14.1", "2.11.0"});
  EXPECT_EQ(choose_torch(builds, "2.15.0", "2.14").build.folder, "/2.14.1");
  EXPECT_EQ(choose_torch(builds, "2.15.0", "2.14.0").build.folder, "/2.14.0");
  EXPECT_THAT(choose_torch(builds, "2.15.0", "2.11.0").note, HasSubstr("as --torch asks"));
  EXPECT_EQ(choose_torch(builds, "", "2.11.0").note, "");
  try {
    choose_torch(builds, "2.15.0", "2.13.0");
    FAIL();
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2.15.0, 2.14.0, 2.14.1, 2.11.0"));
    EXPECT_THAT(error.what(), HasSubstr("AOTIFUZZ_TORCH=2.13.0"));
  }
  EXPECT_THROW(choose_torch(builds, "", "newest"), UsageError);
  EXPECT_THROW(choose_torch({}, "2.15.0", ""), HarnessError);
}

TEST_F(TorchBuilds, LibrariesOfAnotherTorchAreRefusedBeforeTheLoaderDoes) {
  fs::create_directories(root_ / "torch/lib");
  std::ofstream(root_ / "torch/version.py") << "from typing import Optional\n__version__ = '2.15.0+cu132'\n";
  ::setenv("AOTIFUZZ_TORCH_LIB", (root_ / "torch/lib").c_str(), 1);
  EXPECT_NO_THROW(require_matching_libraries(builds_of({"2.15.0"}).front()));
  EXPECT_THROW(require_matching_libraries(builds_of({"2.11.0"}).front()), HarnessError);
  TorchBuild built = builds_of({"2.11.0"}).front();
  built.libraries = "/somewhere/torch/lib";
  EXPECT_NO_THROW(require_matching_libraries(built)) << "it finds its own";
  ::setenv("AOTIFUZZ_TORCH_LIB", (root_ / "nowhere").c_str(), 1);
  EXPECT_THROW(require_matching_libraries(builds_of({"2.15.0"}).front()), HarnessError);
  ::setenv("AOTIFUZZ_TORCH_LIB", root_.c_str(), 1);  // nothing says which torch that is
  EXPECT_NO_THROW(require_matching_libraries(builds_of({"2.11.0"}).front()));
  ::unsetenv("AOTIFUZZ_TORCH_LIB");
  EXPECT_NO_THROW(require_matching_libraries(builds_of({"2.11.0"}).front()));
}

}  // namespace
}  // namespace aotifuzz
