#include "store/case_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/npy.h"
#include "core/shortest_recipe.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class CaseFiles : public ::testing::Test {
 protected:
  CaseFiles() {
    std::string pattern = (fs::temp_directory_path() / "aotifuzz-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::create_directories(folder_ + "/other");
  }
  ~CaseFiles() override { fs::remove_all(folder_); }

  /// Nine elements from `first` on: more than text would say.
  static Case case_of(uint8_t first) {
    std::vector<uint8_t> bytes;
    for (int i = 0; i < 9; ++i) bytes.push_back(static_cast<uint8_t>(first + i * i));
    Case c;
    c.inputs.emplace_back();
    c.inputs[0].name = "x";
    c.inputs[0].dtype = Dtype::kU8;
    c.inputs[0].sizes = {9};
    c.inputs[0].values = shortest_recipe("x.npy", Dtype::kU8, bytes);
    return c;
  }
  static std::string load_error(Case c, const std::string& folder) {
    try {
      load_case_files(c, folder);
    } catch (const HarnessError& error) {
      return error.what();
    }
    return "loaded";
  }

  std::string folder_;
};

TEST_F(CaseFiles, WhatIsKeptLoadsAgain) {
  const Case c = case_of(1);
  const Case kept = keep_case_files(c, folder_);
  const std::string text = print_case(kept);
  EXPECT_THAT(text, HasSubstr("input x u8[9] file(\"x.npy\",u8,hash="));
  EXPECT_LT(text.size(), 100u);
  auto read = parse_case(text);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, c);
  load_case_files(*read, folder_);
  EXPECT_EQ(read->inputs[0].values.file->name, folder_ + "/x.npy");
  EXPECT_EQ(read->inputs[0].values.file->bytes, c.inputs[0].values.file->bytes);
  // As it is sent to a worker, which has no folder.
  auto sent = parse_case(print_case(*read));
  ASSERT_TRUE(sent);
  load_case_files(*sent, "");
  EXPECT_EQ(sent->inputs[0].values.file->bytes, c.inputs[0].values.file->bytes);
  EXPECT_EQ(print_case(with_names_in(*read, folder_)), text);
  EXPECT_THAT(print_case(with_names_in(*read, folder_ + "/other")), HasSubstr(folder_));
}

TEST_F(CaseFiles, OtherValuesOfTheSameNameAreNotOverwritten) {
  const Case first = case_of(1), second = case_of(2);
  keep_case_files(first, folder_);
  const Case kept = keep_case_files(second, folder_);
  EXPECT_NE(kept.inputs[0].values.file->name, "x.npy");
  EXPECT_EQ(keep_case_files(first, folder_).inputs[0].values.file->name, "x.npy");
  EXPECT_FALSE(kept.inputs[0].values.file->loaded)
      << "its plain name is found by whoever reads it from the folder alone";
  for (const auto& [as_written, c] : {std::pair{first, first}, std::pair{kept, second}}) {
    auto read = parse_case(print_case(as_written));
    load_case_files(*read, folder_);
    EXPECT_EQ(read->inputs[0].values.file->bytes, c.inputs[0].values.file->bytes);
  }
}

TEST_F(CaseFiles, WhatIsMissingOrOtherIsSaid) {
  const Case c = keep_case_files(case_of(1), folder_);
  const auto unloaded = [&] { return *parse_case(print_case(c)); };
  EXPECT_EQ(load_error(unloaded(), folder_), "loaded");
  EXPECT_THAT(load_error(unloaded(), folder_ + "/other"), HasSubstr("no such file"));
  std::ofstream(folder_ + "/x.npy", std::ios::binary) << print_npy(Dtype::kU8, {9}, {9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_THAT(load_error(unloaded(), folder_), HasSubstr("other values"));
  std::ofstream(folder_ + "/x.npy", std::ios::binary) << "\x93NUMPY";
  EXPECT_THAT(load_error(unloaded(), folder_), HasSubstr("cannot be read"));
}

TEST_F(CaseFiles, ACaseDoesNotReachIntoOtherFolders) {
  auto c = parse_case("aotifuzz-case 1\ninput x u8[9] file(\"../x.npy\",u8,hash=0000000000000000)\n");
  ASSERT_TRUE(c);
  EXPECT_THAT(load_error(*c, folder_), HasSubstr("another folder"));
}

TEST_F(CaseFiles, TypesThatNumpyDoesNotKnowRoundTrip) {
  Case c;
  c.inputs.emplace_back();
  c.inputs[0].name = "x";
  c.inputs[0].dtype = Dtype::kBF16;
  c.inputs[0].sizes = {3, 3};
  std::vector<uint8_t> bytes(18);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(7 * i + 60);
  c.inputs[0].values = shortest_recipe("x.npy", Dtype::kBF16, bytes);
  auto read = parse_case(print_case(keep_case_files(c, folder_)));
  ASSERT_TRUE(read);
  load_case_files(*read, folder_);
  EXPECT_EQ(read->inputs[0].values.file->bytes, bytes);
}

}  // namespace
}  // namespace aotifuzz
