#include "campaign/corpus_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/atomic_file.h"
#include "store/case_text.h"
#include "tests/campaign/fake_executor.h"

namespace aotifuzz {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

CorpusEntry entry(int64_t rows, const std::string& recipe = "", const std::string& signature = "") {
  CorpusEntry out;
  out.input = tied_case(rows, 1);
  out.name = "rows" + std::to_string(rows);
  if (recipe.empty()) return out;
  out.expectation.emplace();
  out.expectation->recipe = recipe;
  out.expectation->cls = VerdictClass::kCrash;
  out.expectation->fault = true;
  out.expectation->signature = signature;
  return out;
}

TEST(CorpusTools, CellsAreKeptOnceForEachOwner) {
  // 20 and 22 are of one size class.
  EXPECT_THAT(distilled({entry(20), entry(22), entry(32)}), ElementsAre(0, 2));
  EXPECT_THAT(distilled({entry(20, "a", "s"), entry(22, "b", "s")}), ElementsAre(0, 1));
  EXPECT_THAT(distilled({entry(20, "a", "s"), entry(22, "a", "t")}), ElementsAre(0, 1)) << "what is expected counts";
  EXPECT_THAT(distilled({}), IsEmpty());
}

TEST(CorpusTools, MergingTakesWhatAdds) {
  const std::vector<CorpusEntry> entries = {entry(20), entry(22), entry(32), entry(32)};
  EXPECT_THAT(adding(entries, 1), ElementsAre(2));
  EXPECT_THAT(adding(entries, 0), ElementsAre(0, 2));
}

TEST(CorpusTools, StatsCountByOwnerAndExpectation) {
  const CorpusStats stats = corpus_stats({entry(20), entry(22, "a", "s"), entry(22, "a", "t")});
  EXPECT_EQ(stats.cases, 3u);
  EXPECT_EQ(stats.by_owner.at("a"), 2u);
  EXPECT_EQ(stats.by_expected.at("fault crash"), 2u);
  EXPECT_EQ(stats.by_expected.at("nothing expected"), 1u);
  EXPECT_THAT(print_corpus_stats(stats), HasSubstr("3 cases, "));
}

TEST(CorpusTools, AnEntryIsCopiedWholeAndOnce) {
  std::string folder = fs::temp_directory_path() / "aotifuzz-corpus-XXXXXX";
  ASSERT_TRUE(::mkdtemp(folder.data()));
  make_folder(folder + "/from/rows3");
  write_file_whole(folder + "/from/rows3/expect.json", R"({"class": "crash"})");
  write_file_whole(folder + "/from/rows3/case.txt", print_case(tied_case(3, 1)));
  const CorpusEntry one = read_entry(folder + "/from/rows3/case.txt");
  make_folder(folder + "/into");
  EXPECT_TRUE(copy_entry(one, folder + "/into"));
  EXPECT_FALSE(copy_entry(one, folder + "/into"));
  EXPECT_EQ(read_entry(folder + "/into/rows3/case.txt").expectation->cls, VerdictClass::kCrash);
  write_file_whole(folder + "/from/rows3/case.txt", print_case(tied_case(4, 1)));
  EXPECT_TRUE(copy_entry(read_entry(folder + "/from/rows3/case.txt"), folder + "/into"));
  EXPECT_EQ(read_entry(folder + "/into/rows3-2/case.txt").input, tied_case(4, 1));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder + "/into"), fs::directory_iterator()), 2);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace aotifuzz
