// `aotifuzz gate --spec`: what a user says of arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/gate_command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

Ended gate_with_spec(const std::string& text, std::vector<std::string> arguments = {}) {
  const ScratchFolder folder;
  std::ofstream(folder / "ops.spec") << text;
  arguments.insert(arguments.begin(), {"--ops", library("gate_right_ops"), "--spec", folder / "ops.spec"});
  return gate(arguments);
}

TEST(GateSpec, NamesThatTheLibraryDoesNotHaveAreErrorsOfTheirLine) {
  const Ended argument = gate_with_spec("# first\nright::add_in_place y=f32[S]\n");
  EXPECT_EQ(argument.exit_code, 3) << argument.out;
  EXPECT_THAT(argument.err, AllOf(HasSubstr("no argument `y`"), HasSubstr("ops.spec line 2, right::add_in_place"),
                                  HasSubstr("its arguments are x, value")));
  const Ended unknown = gate_with_spec("right::scale x=f32[S]\nright::no_such x=f32[S]\nright::also_none x=f32[S]\n");
  EXPECT_EQ(unknown.exit_code, 3) << unknown.out;
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("does not register"), HasSubstr("ops.spec line 2, right::no_such")));
}

TEST(GateSpec, SizesThatASubtractionWouldMakeNegativeAreNotTried) {
  for (const char* line : {"right::blocks x=f32[S-5]", "right::blocks x=f32[S,N-3]", "right::blocks x=f32[S-5] S%4"}) {
    const Ended ended = gate_with_spec(line, {"--only", "right::blocks"});
    EXPECT_EQ(ended.exit_code, 0) << line << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("1 operators: 1 ok")) << line;
  }
  std::string dimensions = "2";
  for (int i = 0; i < 3000; ++i) dimensions += ",1";
  for (const std::string& sizes : {std::string("-1"), dimensions}) {
    const Ended ended = gate_with_spec("\nright::blocks x=f32[" + sizes + "]\n", {"--only", "right::blocks"});
    EXPECT_EQ(ended.exit_code, 3) << sizes << ended.out;
    EXPECT_THAT(ended.err, HasSubstr("ops.spec line 2")) << sizes;
  }
}

TEST(GateSpec, WhatIsTooLargeToRunIsNotJudged) {
  // The elements of the third are more than an int64 holds: torch cannot even describe such a tensor.
  for (const char* arguments :
       {"x=f32[100000,100000,100000]", "x=f32[1000,S,1000] S>=7", "x=f32[2147483648,2147483648,2147483648]"}) {
    const Ended ended =
        gate_with_spec("right::add_in_place " + std::string(arguments), {"--only", "right::add_in_place"});
    EXPECT_EQ(ended.exit_code, 0) << arguments << ended.out << ended.err;
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("every size of the spec is too large to run ("), HasSubstr("points left out)"),
                      HasSubstr("1 operators: 0 ok, 0 with faults (0), 1 not judged")))
        << arguments;
  }
  // The tensor is small, what the kernel is asked to make is not.
  const Ended list = gate_with_spec("right::zeros_of x=f32[B] sizes=[100000,100000]", {"--only", "right::zeros_of"});
  EXPECT_EQ(list.exit_code, 0) << list.out << list.err;
  EXPECT_THAT(list.out, HasSubstr("every size of the spec is too large to run (")) << list.err;
  const Ended some = gate_with_spec("right::add_in_place x=f32[1000,S]", {"--only", "right::add_in_place"});
  EXPECT_THAT(some.out, HasSubstr("1 operators: 1 ok")) << "the small ones do run: " << some.out << some.err;
}

TEST(GateSpec, APythonFakeIsBelievedOnlyWhereThereIsNoMeta) {
  const ScratchFolder folder;
  std::ofstream(folder / "ops.spec") << "planted::by_size @python-fake\nplanted::no_meta @python-fake\n";
  const json result = gate_json({"--ops", library("gate_faulty_ops"), "--spec", folder / "ops.spec", "--only",
                                 "planted::by_size", "--only", "planted::no_meta"},
                                1);
  ASSERT_EQ(result["operators"].size(), 2u) << result.dump(1);
  const json &by_size = result["operators"][0], &no_meta = result["operators"][1];
  EXPECT_EQ(by_size["status"], "faults") << "it has a C++ meta";
  EXPECT_THAT(by_size["notes"].dump(), HasSubstr("has a C++ meta, which is judged"));
  EXPECT_EQ(no_meta["status"], "not judged");
  EXPECT_THAT(no_meta["reason"].get<std::string>(), HasSubstr("the spec says so"));
}

TEST(GateSpec, WhatItSkipsIsNoFaultWhateverItLacks) {
  const ScratchFolder folder;
  std::ofstream(folder / "ops.spec") << "planted::no_meta @skip\nplanted::by_size @skip\n";
  const json result = gate_json({"--ops", library("gate_faulty_ops"), "--spec", folder / "ops.spec", "--only",
                                 "planted::by_size", "--only", "planted::no_meta"},
                                0);
  ASSERT_EQ(result["operators"].size(), 2u) << result.dump(1);
  for (const json& op : result["operators"]) {
    EXPECT_EQ(op["status"], "not judged");
    EXPECT_EQ(op["reason"], "the spec says @skip");
  }
}

/// Errors send the user to the README, and the parser is described in its header.
TEST(GateSpec, GrammarOfTheReadmeIsTheOneOfTheParser) {
  const std::string readme = read(AOTIFUZZ_README);
  EXPECT_THAT(readme, HasSubstr("## Gate a custom operator's library"));
  std::istringstream header(read((fs::path(AOTIFUZZ_README).parent_path() / "harness/store/op_spec.h").string()));
  int rules = 0;
  for (std::string line; std::getline(header, line);) {
    if (line.find(":=") == std::string::npos) continue;
    ++rules;
    EXPECT_THAT(readme, HasSubstr(line.substr(line.find_first_not_of("/ "))));
  }
  EXPECT_EQ(rules, 7);
  EXPECT_THAT(gate_with_spec("right::scale x=f99[B]").err, HasSubstr("under \"Gate a custom operator's library\""));
}

TEST(GateSpec, OnlyARegularFileOfSomeSizeIsRead) {
  const ScratchFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::ofstream(folder / "huge.spec");
  fs::resize_file(folder / "huge.spec", (16 << 20) + 1);
  std::ofstream(folder / "large.spec") << "right::scale x=f32[S] #";
  fs::resize_file(folder / "large.spec", 1 << 20);
  const std::vector<std::pair<std::string, std::string>> refused = {{"/dev/zero", "not a regular file"},
                                                                    {folder / "fifo", "not a regular file"},
                                                                    {folder.path(), "not a regular file"},
                                                                    {folder / "none", "cannot be found"},
                                                                    {folder / "huge.spec", "16777217 bytes"}};
  for (const auto& [path, words] : refused) {
    const Ended ended = gate({"--ops", library("gate_right_ops"), "--spec", path});
    EXPECT_EQ(ended.exit_code, 3) << path << ended.out;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(words), HasSubstr("where: " + path), HasSubstr("to do:")));
  }
  EXPECT_EQ(
      gate({"--ops", library("gate_right_ops"), "--spec", folder / "large.spec", "--only", "right::scale"}).exit_code,
      0);
}

/// The library before the change may lack what the spec says of the one after it.
TEST(GateSpec, IsAboutTheNewLibraryInAComparison) {
  const ScratchFolder folder;
  std::ofstream(folder / "ops.spec") << "changing::added x=f32[B,D]\n";
  const Ended ended = gate({"--base", library("gate_ops_before"), "--ops", library("gate_ops_after"), "--only",
                            "changing::added", "--spec", folder / "ops.spec"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("added: changing::added"));
}

}  // namespace
}  // namespace aotifuzz::test
