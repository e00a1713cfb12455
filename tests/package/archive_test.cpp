#include "package/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/package/package_builder.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;

std::string file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string zip_bytes(const Members& members, bool compress = false) {
  const TemporaryFile file("a.zip");
  write_zip(file.path(), members, compress);
  return file_bytes(file.path());
}

std::string message(const Result<Archive>& archive) {
  return archive ? "opened" : archive.error().what + " | " + archive.error().where;
}

/// Replaces every occurrence, so that local and central names stay equal.
std::string renamed(std::string bytes, const std::string& from, const std::string& to) {
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size()))
    bytes.replace(at, from.size(), to);
  return bytes;
}

TEST(Archive, ReadsMembersBelowTheRootFolder) {
  const TemporaryFile file("a.zip");
  write_zip(file.path(), {{"labeq/models/model.json", "{}"}, {"labeq/archive_format", "pt2"}, {"labeq/empty", ""}},
            true);
  const Result<Archive> archive = Archive::open(file.path());
  ASSERT_TRUE(archive) << message(archive);
  EXPECT_EQ(archive->root(), "labeq/");
  ASSERT_EQ(archive->members().size(), 3u);
  EXPECT_EQ(archive->members()[0].name, "labeq/archive_format");
  EXPECT_EQ(archive->read("archive_format"), "pt2");
  EXPECT_EQ(archive->read("empty"), "");
  EXPECT_EQ(archive->find("labeq/models/model.json"), nullptr);
}

TEST(Archive, WithoutARootFolderNamesStandAsTheyAre) {
  const std::string bytes = zip_bytes({{"models/model.json", "{}"}, {"archive_format", "pt2"}});
  const Result<Archive> archive = Archive::from_bytes(bytes);
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->root(), "");
  EXPECT_EQ(archive->read("models/model.json"), "{}");
  const std::string only_models = zip_bytes({{"models/model.json", "{}"}});
  EXPECT_EQ(Archive::from_bytes(only_models)->root(), "");
}

TEST(Archive, MissingFileAndOtherFormatsAreNamed) {
  EXPECT_THAT(message(Archive::open("/nonexistent/x.pt2")), HasSubstr("/nonexistent/x.pt2"));
  EXPECT_THAT(message(Archive::from_bytes("not a zip at all, not even nearly")),
              HasSubstr("cannot open as a zip archive"));
  EXPECT_THAT(message(Archive::from_bytes("")), HasSubstr("cannot open"));
}

TEST(Archive, EveryTruncationIsAnErrorAndNoCrash) {
  const std::string bytes = zip_bytes({{"m/a", std::string(300, 'x')}, {"m/b", "text"}}, true);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(Archive::from_bytes(std::string_view(bytes).substr(0, length))) << length;
}

TEST(Archive, DamagedMemberIsAnErrorThatNamesIt) {
  std::string bytes = zip_bytes({{"m/data", std::string(300, 'x')}});
  bytes[bytes.find("xxxx") + 100] = 'y';  // the checksum no longer fits
  const Result<Archive> archive = Archive::from_bytes(bytes);
  ASSERT_TRUE(archive);
  const Result<std::string> read = archive->read("data");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().where, HasSubstr("data"));
}

TEST(Archive, NamesThatLeaveTheArchiveAreRefused) {
  const std::string bytes = zip_bytes({{"m/xx/evil", "1"}});
  EXPECT_THAT(message(Archive::from_bytes(renamed(bytes, "m/xx/evil", "m/../evil"))), HasSubstr("'..'"));
  EXPECT_THAT(message(Archive::from_bytes(renamed(bytes, "m/xx/evil", "/m/x/evil"))), HasSubstr("absolute"));
  EXPECT_THAT(message(Archive::from_bytes(renamed(bytes, "m/xx/evil", "m\\xx\\evil"))), HasSubstr("backslash"));
  EXPECT_TRUE(Archive::from_bytes(renamed(bytes, "m/xx/evil", "m/..x/evi")));
}

TEST(Archive, DoubleNamesAreRefused) {
  const std::string bytes = zip_bytes({{"m/a", "1"}, {"m/b", "2"}});
  EXPECT_THAT(message(Archive::from_bytes(renamed(bytes, "m/b", "m/a"))), HasSubstr("twice"));
}

TEST(Archive, BombsAreRefusedBeforeUnpacking) {
  const std::string bytes = zip_bytes({{"m/zeros", std::string(8 << 20, '\0')}}, true);
  ASSERT_LT(bytes.size(), 20'000u);
  EXPECT_THAT(message(Archive::from_bytes(bytes)), HasSubstr("bomb"));
  ArchiveLimits limits;
  limits.ratio_max = 100'000;
  EXPECT_TRUE(Archive::from_bytes(bytes, limits));
  limits.total_bytes_max = 1 << 20;
  EXPECT_THAT(message(Archive::from_bytes(bytes, limits)), HasSubstr("unpacks to more than"));
}

TEST(Archive, TooManyMembersAreRefused) {
  ArchiveLimits limits;
  limits.members_max = 1;
  EXPECT_THAT(message(Archive::from_bytes(zip_bytes({{"m/a", "1"}, {"m/b", "2"}}), limits)), HasSubstr("members"));
}

TEST(Archive, LargeMemberIsReadOnlyWhenAllowed) {
  const std::string bytes = zip_bytes({{"m/a", std::string(1000, 'x')}});
  const Result<Archive> archive = Archive::from_bytes(bytes);
  ASSERT_TRUE(archive);
  EXPECT_TRUE(archive->read("a", 1000));
  const Result<std::string> refused = archive->read("a", 999);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("999"));
}

}  // namespace
}  // namespace aotifuzz
