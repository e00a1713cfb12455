#include "store/finding_record.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "store/atomic_file.h"
#include "store/finding_folder.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

Finding example() {
  Finding finding;
  finding.verdict.status = VerdictStatus::kFail;
  finding.verdict.cls = VerdictClass::kWrongResult;
  finding.verdict.fault = true;
  finding.verdict.oracle = "close";
  finding.verdict.signature = "wrong-result output 0";
  finding.verdict.measures = {{"expected", "3"}};
  finding.reproduced = 4;
  finding.tries = 5;
  finding.certificate = {"x.size(0): 16 fails, 15 passes"};
  finding.environment = {{"torch", "2.11.0"}};
  return finding;
}

TEST(FindingRecord, HoldsWhatTheFindingHeld) {
  std::string out = fs::temp_directory_path() / "aotifuzz-record-XXXXXX";
  ASSERT_TRUE(::mkdtemp(out.data()));
  EXPECT_TRUE(read_findings(out).empty());
  FindingContext context;
  context.package_hash = "00aa";
  make_folder(out + "/findings");
  write_finding_folder(out + "/findings/b", example(), context);
  write_finding_folder(out + "/findings/a", example(), context);
  make_folder(out + "/findings/.unfinished-c");
  const auto records = read_findings(out);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].slug, "a");
  EXPECT_EQ(records[1].folder, out + "/findings/b");
  EXPECT_EQ(records[0].verdict.signature, "wrong-result output 0");
  EXPECT_EQ(records[0].verdict.measures, example().verdict.measures);
  EXPECT_TRUE(records[0].verdict.fault);
  EXPECT_EQ(records[0].reproduced, 4);
  EXPECT_EQ(records[0].certificate, example().certificate);
  EXPECT_EQ(records[0].package_hash, "00aa");
  EXPECT_EQ(records[0].environment.at("torch"), "2.11.0");
  EXPECT_NE(records[0].case_text.find("aotifuzz-case 1"), std::string::npos);
  write_file_whole(out + "/findings/a/finding.json", "{}");
  EXPECT_THROW(read_findings(out), HarnessError);
  fs::remove_all(out);
}

TEST(FindingRecord, HostileTextIsAnError) {
  for (const char* text : {"", "[]", "{\"section\": 1}", "{\"section\": \"fault\", \"class\": \"odd\"}",
                           "{\"section\": \"gap\", \"class\": \"crash\", \"measures\": [[1]]}",
                           "{\"section\": \"gap\", \"class\": \"crash\", \"environment\": {\"a\": []}}"})
    EXPECT_FALSE(parse_finding_record(text)) << text;
}

}  // namespace
}  // namespace aotifuzz
