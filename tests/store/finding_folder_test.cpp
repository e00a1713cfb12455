#include "store/finding_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "store/atomic_file.h"
#include "store/case_text.h"
#include "store/corpus_folder.h"
#include "store/ledger.h"
#include "store/python_reproducer.h"

namespace aotifuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::vector<CorpusEntry> read_all(const std::string& path) {
  std::vector<CorpusEntry> entries;
  for (const std::string& file : find_cases(path)) entries.push_back(read_entry(file));
  return entries;
}

class StoreFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "aotifuzz-store-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string folder_;
};

Finding example() {
  Finding finding;
  CaseInput x;
  x.name = std::string("x");
  x.sizes = {16};
  finding.minimal.inputs = {x};
  finding.original = finding.minimal;
  finding.original.inputs[0].sizes = {300};
  finding.verdict.oracle = "close";
  finding.verdict.status = VerdictStatus::kFail;
  finding.verdict.cls = VerdictClass::kWrongResult;
  finding.verdict.fault = true;
  finding.verdict.signature = "wrong-result output 0";
  finding.verdict.reason = "output 0 differs\nby much";
  finding.verdict.measures = {{"expected", "a|b"}};
  finding.reproduced = finding.tries = 5;
  finding.one_minimal = true;
  finding.reduction_runs = 31;
  finding.package = "/models/m.pt2";
  finding.environment = {{"torch", "2.11.0"}};
  finding.certificate = {"x.size(0): 16 fails, 15 passes"};
  return finding;
}

TEST_F(StoreFolder, OnlyWhatAKilledWriterOfOursLeftIsRemoved) {
  for (const char* name : {"state.json.4711.tmp", "mine.tmp", "notes.1.txt"})
    write_file_whole(folder_ + "/" + name, "x");
  fs::create_directory(folder_ + "/" + std::string(kUnfinished) + "gap-1");
  remove_leftovers(folder_);
  EXPECT_FALSE(fs::exists(folder_ + "/state.json.4711.tmp"));
  EXPECT_FALSE(fs::exists(folder_ + "/" + std::string(kUnfinished) + "gap-1"));
  EXPECT_TRUE(fs::exists(folder_ + "/mine.tmp"));
  EXPECT_TRUE(fs::exists(folder_ + "/notes.1.txt"));
}

TEST_F(StoreFolder, AFindingReadsBackAsACorpusEntry) {
  const Finding finding = example();
  write_finding_folder(folder_ + "/f", finding, {});
  for (const std::string& path : {folder_, folder_ + "/f", folder_ + "/f/case.txt"}) {
    const std::vector<CorpusEntry> entries = read_all(path);
    ASSERT_EQ(entries.size(), 1u) << path;
    EXPECT_EQ(entries[0].input, finding.minimal);
    ASSERT_TRUE(entries[0].expectation);
    EXPECT_TRUE(matches(*entries[0].expectation, finding.verdict));
    EXPECT_EQ(entries[0].expectation->fault, true);
    EXPECT_EQ(package_of(entries[0], "", ""), "/models/m.pt2");
    EXPECT_EQ(package_of(entries[0], "new.pt2", ""), "new.pt2");
  }
  const auto original = parse_case(read_file(folder_ + "/f/original.txt"));
  ASSERT_TRUE(original);
  EXPECT_EQ(*original, finding.original);
}

TEST_F(StoreFolder, TheReportHasEverythingThatAnIssueNeeds) {
  FindingContext context;
  context.inputs_python = "x = torch.zeros(16)\ninputs = [x]\n";
  write_finding_folder(folder_ + "/f", example(), context);
  const std::string report = read_file(folder_ + "/f/report.md");
  for (const char* part :
       {"# [AOTInductor] wrong-result", "input x f32[16]", "| expected | a\\|b |", "| torch | 2.11.0 |",
        "x.size(0): 16 fails, 15 passes", "aotifuzz replay ", "x = torch.zeros(16)", "5 of 5", "31 runs"})
    EXPECT_THAT(report, HasSubstr(part));
}

TEST_F(StoreFolder, CommentsOfACaseStayCommentsWhateverTheVerdictSays) {
  const auto parsed = parse_case(print_finding_case(example(), "/tmp/it's here"));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(*parsed, example().minimal);
}

TEST(ReplayCommand, IsQuotedWhereAShellNeedsIt) {
  EXPECT_EQ(replay_command("out/a-b"), "aotifuzz replay out/a-b");
  EXPECT_EQ(replay_command("it's here"), "aotifuzz replay 'it'\\''s here'");
}

TEST_F(StoreFolder, ACorpusIsReadInTheOrderOfItsPathsWithHandWrittenExpectations) {
  for (const char* name : {"b", "a/deep", "c"}) {
    fs::create_directories(folder_ + "/" + name);
    write_file_whole(folder_ + "/" + name + "/case.txt", print_case(example().minimal));
  }
  write_file_whole(folder_ + "/b/expect.json",
                   R"({"signature": "wrong-result output 0", "class": "wrong-result", "model": "faults.f1_x"})");
  write_file_whole(folder_ + "/README.md", "not a case");
  const std::vector<CorpusEntry> entries = read_all(folder_);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].name, "deep");
  EXPECT_EQ(entries[1].name, "b");
  EXPECT_EQ(entries[1].expectation->recipe, "faults.f1_x");
  EXPECT_THROW(package_of(entries[1], "", ""), HarnessError);
  EXPECT_THROW(package_of(entries[1], "", folder_), HarnessError) << "not packed";
  write_file_whole(folder_ + "/faults.f1_x.pt2", "");
  EXPECT_EQ(package_of(entries[1], "", folder_), folder_ + "/faults.f1_x.pt2");
  EXPECT_FALSE(entries[2].expectation);
  EXPECT_THROW(package_of(entries[2], "", ""), HarnessError);
}

TEST_F(StoreFolder, WhatCannotBeReadNamesItsFile) {
  EXPECT_THROW(find_cases(folder_), HarnessError) << "empty";
  EXPECT_THROW(find_cases(folder_ + "/none"), HarnessError);
  write_file_whole(folder_ + "/case.txt", "aotifuzz-case 1\ninput x f99[3] const(0)\n");
  try {
    read_all(folder_);
    FAIL();
  } catch (const HarnessError& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder_ + "/case.txt"));
    EXPECT_THAT(error.what(), HasSubstr("to do:"));
  }
}

TEST(Expectation, HostileTextIsAnError) {
  for (const char* text :
       {"", "[]", "{}", "{\"signature\": 3}", "{\"class\": \"odd\"}", "{\"class\": \"crash\", \"section\": \"both\"}",
        "{\"class\": \"crash\", \"tries\": -1}", "{\"class\": \"crash\", \"before\": [1]}",
        "{\"version\": 2, \"class\": \"crash\"}", "{\"class\": \"crash\", \"torch\": \"2.15\"}"})
    EXPECT_FALSE(parse_expectation(text)) << text;
}

TEST(Expectation, MatchesBySignatureClassAndStatedSection) {
  const Verdict verdict = example().verdict;
  EXPECT_TRUE(matches(*parse_expectation(R"({"class": "wrong-result"})"), verdict));
  EXPECT_TRUE(matches(*parse_expectation(R"({"signature": "wrong-result output 0"})"), verdict));
  EXPECT_FALSE(matches(*parse_expectation(R"({"signature": "wrong-result output 1"})"), verdict));
  EXPECT_FALSE(matches(*parse_expectation(R"({"class": "unstable", "signature": "wrong-result output 0"})"), verdict));
  EXPECT_FALSE(matches(*parse_expectation(R"({"class": "wrong-result", "section": "gap"})"), verdict));
  Verdict pass = verdict;
  pass.status = VerdictStatus::kPass;
  EXPECT_FALSE(matches(*parse_expectation(R"({"class": "wrong-result"})"), pass));
}

TEST_F(StoreFolder, AFileIsWrittenWholeOrNotAtAll) {
  const std::string path = folder_ + "/x";
  write_file_whole(path, "old");
  write_file_whole(path, std::string(1 << 20, 'n'));
  EXPECT_EQ(read_file(path).size(), size_t{1} << 20);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "no temporary file is left";
  EXPECT_THROW(write_file_whole(folder_ + "/no/such/folder/x", "n"), HarnessError);
  EXPECT_THROW(write_file_whole("/dev/full/x", "n"), HarnessError);
}

TEST_F(StoreFolder, ALedgerComesBackAsItWas) {
  Ledger ledger;
  Ledger::Section& section = ledger.packages["00aa"];
  section.package = "m.pt2";
  section.next_case = {{"1", 77}, {"18446744073709551615", 3}};
  section.cases = 80;
  section.pending = {"aotifuzz-case 1\n"};
  section.known["fault crash: crash SIGSEGV in subject"] = {"crash-00", true, 12};
  section.known["fault wrong-result: hidden"] = {"wrong-result-00", true, 3, "cpp_fused_add_0 out_ptr0 = add", true};
  write_file_whole(folder_ + "/state.json", print_ledger(ledger));
  EXPECT_EQ(load_ledger(folder_ + "/state.json"), ledger);
  EXPECT_EQ(load_ledger(folder_ + "/none.json"), Ledger{});
  for (const char* text : {"", "{}", "{\"version\": 2}", "{\"version\": 1, \"packages\": 3}",
                           "{\"version\": 1, \"packages\": {\"a\": {\"cases\": -1}}}",
                           "{\"version\": 1, \"packages\": {\"a\": {\"next_case\": {\"1\": \"x\"}}}}",
                           "{\"version\": 1, \"packages\": {\"a\": {\"known\": {\"k\": {\"slug\": 1}}}}}"})
    EXPECT_FALSE(parse_ledger(text)) << text;
}

TEST_F(StoreFolder, TheContentHashDependsOnEveryByte) {
  std::string content(3'000'000, 'a');
  write_file_whole(folder_ + "/x", content);
  const std::string first = content_hash(folder_ + "/x");
  EXPECT_EQ(first.size(), 16u);
  EXPECT_EQ(content_hash(folder_ + "/x"), first);
  for (const size_t at : {size_t{0}, size_t{1'048'576}, content.size() - 1}) {
    std::string other = content;
    other[at] = 'b';
    write_file_whole(folder_ + "/x", other);
    EXPECT_NE(content_hash(folder_ + "/x"), first) << at;
  }
  write_file_whole(folder_ + "/x", content + std::string(1, '\0'));
  EXPECT_NE(content_hash(folder_ + "/x"), first);
  EXPECT_THROW(content_hash(folder_), HarnessError);
}

TEST(PythonReproducer, PutsInputsWhereTheProgramWantsThem) {
  FindingContext context;
  context.inputs_python = "x = torch.zeros(16)\ninputs = [x]\n";
  EXPECT_THAT(print_python_reproducer(example(), context), Not(HasSubstr("on_devices")));
  context.input_devices = {"cuda:0"};
  const std::string on_cuda = print_python_reproducer(example(), context);
  EXPECT_THAT(on_cuda, HasSubstr("def on_devices(inputs, devices):"));
  EXPECT_THAT(on_cuda, HasSubstr("return on_devices(inputs, [\"cuda:0\"])"));
}

TEST(PythonReproducer, UsesTheModelSourceWhereItIsKnownElseThePackage) {
  FindingContext context;
  context.inputs_python = "x = torch.zeros(16)\ninputs = [x]\n";
  const std::string from_package = print_python_reproducer(example(), context);
  EXPECT_THAT(from_package, HasSubstr("torch.export.load(package_path)"));
  EXPECT_THAT(from_package, HasSubstr("\"/models/m.pt2\""));
  context.recipe_source = "def model():\n    pass\n";
  context.recipe_function = "model";
  const std::string from_source = print_python_reproducer(example(), context);
  EXPECT_THAT(from_source, HasSubstr("made = model()"));
  EXPECT_THAT(from_source, Not(HasSubstr("/models/m.pt2")));
  context.before_python = {"x = torch.ones(3)\ninputs = [x]\n"};
  const std::string after_another = print_python_reproducer(example(), context);
  EXPECT_THAT(after_another, HasSubstr("compiled(*make_inputs_before_0())"));
  EXPECT_THAT(from_source, Not(HasSubstr("make_inputs_before")));
  context = {};
  context.has_reference = false;
  EXPECT_THAT(print_python_reproducer(example(), context), Not(HasSubstr("torch.export.load")));
}

}  // namespace
}  // namespace aotifuzz
