#include "store/result_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "store/atomic_file.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

class ResultFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "aotifuzz-results-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }
  void put(const std::string& name, const std::string& text) const { std::ofstream(at(name)) << text; }

  std::string folder_;
};

TEST_F(ResultFileTest, NewFilesAndEarlierResultsAreFine) {
  put("old.xml", "<testsuites/>");
  put("old.sarif", "{}");
  put("empty", "");
  EXPECT_NO_THROW(require_result_files(
      {{"--junit", at("old.xml")}, {"--sarif", at("old.sarif")}, {"--json", at("empty")}, {"--json", ""}},
      {at("m.pt2")}));
}

TEST_F(ResultFileTest, TwoResultsInOneFileAreRefused) {
  EXPECT_THROW(require_result_files({{"--junit", at("r")}, {"--sarif", folder_ + "/./r"}}, {}), UsageError);
  const fs::path here = fs::current_path();
  fs::current_path(folder_);
  EXPECT_THROW(require_result_files({{"--junit", "new.xml"}, {"--sarif", "./new.xml"}}, {}), UsageError);
  fs::current_path(here);
  put("r.xml", "<a/>");
  fs::create_symlink(at("r.xml"), at("link"));
  EXPECT_THROW(require_result_files({{"--junit", at("r.xml")}, {"--sarif", at("link")}}, {}), UsageError);
}

TEST_F(ResultFileTest, AnInputIsNotOverwritten) {
  put("state.json", "{}");
  EXPECT_THROW(require_result_files({{"--junit", at("state.json")}}, {at("state.json")}), UsageError);
  EXPECT_THROW(require_result_files({{"--junit", at("new.pt2")}}, {at("new.pt2")}), UsageError);
}

TEST_F(ResultFileTest, WhatIsNoResultIsNotOverwritten) {
  put("case.txt", "aotifuzz-case 1\n");
  EXPECT_THROW(require_result_files({{"--junit", at("case.txt")}}, {}), UsageError);
}

TEST_F(ResultFileTest, WhatCannotBeWrittenIsSaidBefore) {
  EXPECT_THROW(require_result_files({{"--junit", at("no/such/folder.xml")}}, {}), HarnessError);
  EXPECT_THROW(require_result_files({{"--junit", folder_}}, {}), HarnessError);
}

TEST_F(ResultFileTest, ALinkIsFollowedAndADeviceStays) {
  put("real.xml", "<a/>");
  fs::create_symlink(at("real.xml"), at("link.xml"));
  write_result_file(at("link.xml"), "<b/>");
  EXPECT_TRUE(fs::is_symlink(at("link.xml")));
  EXPECT_EQ(read_file(at("real.xml")), "<b/>");
  require_result_files({{"--junit", "/dev/null"}, {"--sarif", "/dev/null"}}, {});
  write_result_file("/dev/null", "<c/>");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (fs::exists("/dev/full")) {
    EXPECT_THROW(write_result_file("/dev/full", "<c/>"), HarnessError);
  }
}

TEST_F(ResultFileTest, AFolderForResultsIsTriedAndLeftAsItWas) {
  put("model.pt2", "x");
  require_result_folder({"--out", at("new/deep")});
  require_result_folder({"--out", folder_});
  require_result_folder({"--out", ""});
  EXPECT_FALSE(fs::exists(at("new")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
  EXPECT_THROW(require_result_folder({"--out", at("model.pt2")}), UsageError);
  EXPECT_THROW(require_result_folder({"--out", at("model.pt2/below")}), UsageError);
  EXPECT_THROW(require_result_folder({"--out", "/proc/x"}), HarnessError);
}

}  // namespace
}  // namespace aotifuzz
