// `aotifuzz gate` as a user types it, on libraries with planted faults, without any, and on ones that do not load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::string library(const std::string& name) { return AOTIFUZZ_GATE_OPS "/lib" + name + ".so"; }
std::string source(const std::string& name) { return AOTIFUZZ_GATE_SOURCES "/" + name; }

Ended gate(std::vector<std::string> arguments, const std::string& folder = "") {
  arguments.insert(arguments.begin(), {AOTIFUZZ_PROGRAM, "gate"});
  return run_program(arguments, folder);
}

json gate_json(std::vector<std::string> arguments, int expected_code) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const Ended ended = gate(arguments);
  EXPECT_EQ(ended.exit_code, expected_code) << ended.err;
  return json::parse(ended.out, nullptr, false);
}

/// Where a fault was planted.
struct Plant {
  std::string kind;
  int line = 0;
};

/// From the comments of the source: "// PLANTED operator kind".
std::map<std::string, Plant> planted(const std::string& file) {
  std::map<std::string, Plant> out;
  std::istringstream lines(read(source(file)));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const size_t at = line.find("// PLANTED ");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + 11));
    std::string op;
    Plant plant{.kind = "", .line = number};
    words >> op >> plant.kind;
    out["planted::" + op] = plant;
  }
  return out;
}

TEST(Gate, FindsEachPlantedFaultOnceOnItsLineAndNothingElse) {
  const auto plants = planted("faulty_ops.cpp");
  ASSERT_GE(plants.size(), 39u);
  const json result =
      gate_json({"--ops", library("gate_faulty_ops"), "--spec", source("faulty_ops.spec"), "--timeout", "2s"}, 1);
  std::set<std::string> seen;
  for (const json& op : result["operators"]) {
    const std::string name = op["name"];
    if (!plants.count(name)) {
      EXPECT_EQ(op["status"], "ok") << name << op["faults"];
      continue;
    }
    seen.insert(name);
    const Plant& plant = plants.at(name);
    ASSERT_EQ(op["faults"].size(), 1u) << name << op["faults"].dump(1);
    const json& fault = op["faults"][0];
    EXPECT_EQ(fault["kind"], plant.kind) << name;
    EXPECT_EQ(fault["line"], plant.line) << name << fault.dump(1);
    EXPECT_THAT(fault["file"].get<std::string>(), HasSubstr("faulty_ops.cpp"));
    EXPECT_THAT(fault["to_do"].get<std::string>(), Not(testing::IsEmpty())) << name;
  }
  EXPECT_EQ(seen.size(), plants.size());
}

TEST(Gate, RightOperatorsRaiseNoAlarm) {
  const json result = gate_json({"--ops", library("gate_right_ops"), "--spec", source("right_ops.spec")}, 0);
  int ok = 0;
  for (const json& op : result["operators"]) {
    EXPECT_EQ(op["faults"].size(), 0u) << op.dump(1);
    EXPECT_EQ(op["preconditions"].size(), 0u) << op.dump(1);
    if (op["name"] == "right::nonzero_rows")
      EXPECT_EQ(op["status"], "not judged");
    else
      EXPECT_EQ(op["status"], "ok") << op["name"] << ": " << op["reason"];
    ok += op["status"] == "ok";
  }
  EXPECT_GE(ok, 36);
}

TEST(Gate, RightOperatorsRaiseNoAlarmOnArgumentsDrawnByDefault) {
  const json result = gate_json({"--ops", library("gate_right_ops")}, 1);
  for (const json& op : result["operators"])
    for (const json& fault : op["faults"])
      EXPECT_EQ(fault["kind"], "meta-missing") << op["name"] << fault.dump(1);  // nonzero_rows, whose line says why
}

TEST(Gate, SaysWhatToChangeAndAtWhichSizes) {
  const Ended ended = gate({"--ops", library("gate_faulty_ops"), "--only", "planted::by_size", "--only",
                            "planted::clamp_topk", "--spec", source("faulty_ops.spec")});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("`x.size(0)` turns s0 into the number 7"), HasSubstr("faulty_ops.cpp:"),
                               HasSubstr("(by_size_meta)"), HasSubstr("to do: use `x.sym_size(0)`")));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("[B, K]"), HasSubstr("the kernel made [7,11]")));
  EXPECT_THAT(ended.out, HasSubstr("2 operators: 0 ok, 2 with faults (2), 0 not judged"));
}

TEST(Gate, WithoutDebugInformationTheFunctionOrTheRegistrationIsNamed) {
  const ScratchFolder folder;
  const std::string no_lines = folder / "libno_lines.so", stripped = folder / "libstripped.so";
  ASSERT_EQ(run_program({"strip", "-g", "-o", no_lines, library("gate_faulty_ops")}).exit_code, 0);
  ASSERT_EQ(run_program({"strip", "-o", stripped, library("gate_faulty_ops")}).exit_code, 0);
  for (const std::string& path : {no_lines, stripped}) {
    const Ended ended = gate({"--ops", path, "--only", "planted::by_size"});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("meta-specialises"), HasSubstr("faulty_ops.cpp:"),
                                 HasSubstr("where it is registered")));
  }
}

TEST(Gate, WritesReportsForCi) {
  const ScratchFolder folder;
  const Ended ended =
      gate({"--ops", library("gate_faulty_ops"), "--only", "planted::by_size", "--only", "planted::rounded", "--junit",
            folder / "junit.xml", "--sarif", folder / "gate.sarif", "--json", folder / "gate.json", "--github"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("::error file="), HasSubstr("faulty_ops.cpp,line=")));
  EXPECT_THAT(read(folder / "junit.xml"),
              AllOf(HasSubstr("planted::by_size"), HasSubstr("planted::rounded"), HasSubstr("<failure")));
  const json sarif = json::parse(read(folder / "gate.sarif"));
  ASSERT_EQ(sarif["runs"][0]["results"].size(), 1u);
  EXPECT_EQ(sarif["runs"][0]["results"][0]["ruleId"], "meta-specialises");
  EXPECT_EQ(json::parse(read(folder / "gate.json"))["exit_code"], 1);
}

TEST(Gate, AnnotationsLeaveTheJsonOnStdoutAlone) {
  const std::string faulty = library("gate_faulty_ops");
  const std::vector<std::vector<std::string>> uses = {
      {"--ops", faulty, "--only", "planted::by_size"},
      {"--base", library("gate_ops_before"), "--ops", library("gate_ops_after")}};
  for (std::vector<std::string> arguments : uses) {
    arguments.insert(arguments.end(), {"--json", "-", "--github"});
    const Ended ended = gate(arguments);
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_FALSE(json::parse(ended.out, nullptr, false).is_discarded()) << ended.out;
    EXPECT_THAT(ended.err, HasSubstr("::error file="));
  }
}

TEST(Gate, SpecItWritesIsASpecItReads) {
  const ScratchFolder folder;
  const Ended written = gate({"--ops", library("gate_right_ops"), "--init-spec"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out,
              AllOf(HasSubstr("right::pad_rows x=f32[s0,s1] block=64"), HasSubstr("# right::best(Tensor x")));
  std::ofstream(folder / "ops.spec") << written.out;
  const Ended again =
      gate({"--ops", library("gate_right_ops"), "--spec", folder / "ops.spec", "--only", "right::pad_rows"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
}

TEST(GateComparison, SaysWhatAChangeDoesToEachOperator) {
  const json result = gate_json({"--base", library("gate_ops_before"), "--ops", library("gate_ops_after")}, 1);
  std::map<std::string, json> changes;
  for (const json& change : result["changes"]) changes[change["name"].get<std::string>().substr(10)] = change;
  const std::map<std::string, std::string> expected = {
      {"equal", "equal"},     {"unsound", "unsound"}, {"specialised", "specialised"}, {"narrowed", "narrowed"},
      {"widened", "widened"}, {"fixed", "fixed"},     {"changed", "changed"},         {"schema", "schema"},
      {"added", "added"},     {"removed", "removed"}};
  EXPECT_EQ(changes.size(), expected.size()) << result.dump(1);
  for (const auto& [name, kind] : expected) {
    ASSERT_TRUE(changes.count(name)) << name;
    EXPECT_EQ(changes[name]["change"], kind) << changes[name].dump(1);
    EXPECT_EQ(changes[name]["broken"].size(), name == "unsound" || name == "specialised" ? 1u : 0u) << name;
  }
  // Sizes near a constant that only the new library's condition names are tried on both.
  EXPECT_THAT(changes["changed"]["first_sizes"].get<std::string>(), HasSubstr("=4097"));
  EXPECT_THAT(changes["narrowed"]["first_sizes"].get<std::string>(), HasSubstr("s0=3"));
  EXPECT_EQ(changes["equal"]["differing"], 0);
}

TEST(GateComparison, OnlyWhatTheChangeMadeWorseFails) {
  const std::string same = library("gate_ops_before");
  const Ended ended = gate({"--base", same, "--ops", same});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("0 changed; faults: 0 new, 0 fixed, 2 as before"));
  EXPECT_THAT(gate({"--base", same, "--ops", same, "--all"}).out, HasSubstr("changing::still_faulty: 1 fault"));
  // Backwards, a fault comes back.
  const Ended back = gate({"--base", library("gate_ops_after"), "--ops", same});
  EXPECT_EQ(back.exit_code, 1);
  EXPECT_THAT(back.out, HasSubstr("unsound: changing::fixed"));
}

/// The workflow of the README, with this test's libraries in place of the user's.
TEST(GateComparison, TheWorkflowOfTheReadmeRuns) {
  const std::string readme = read(AOTIFUZZ_README);
  const std::string mark = "run: aotifuzz gate ";
  const size_t begin = readme.find(mark);
  ASSERT_NE(begin, std::string::npos);
  std::istringstream words(readme.substr(begin + mark.size(), readme.find('\n', begin) - begin - mark.size()));
  const ScratchFolder folder;
  fs::create_directories(folder / "base");
  fs::create_directories(folder / "build");
  fs::copy_file(library("gate_ops_before"), folder / "base/libmyops.so");
  fs::copy_file(library("gate_ops_after"), folder / "build/libmyops.so");
  std::ofstream(folder / "ops.spec") << "changing::unsound x=f32[B,D]\n";
  std::vector<std::string> command = {AOTIFUZZ_PROGRAM, "gate"};
  for (std::string word; words >> word;) command.push_back(word);
  const Ended ended = run_program(command, folder.path());
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("unsound: changing::unsound"), HasSubstr("::error file=")));
  const json sarif = json::parse(read(folder / "gate.sarif"));
  EXPECT_EQ(sarif["runs"][0]["results"].size(), 2u) << "unsound and specialised, and not still_faulty";
  EXPECT_THAT(read(folder / "gate.xml"), HasSubstr("changing::specialised"));
}

TEST(GateLibraries, ThatNeedAnotherOneWorkWithLoad) {
  const Ended alone = gate({"--ops", library("gate_dependent_ops")});
  EXPECT_EQ(alone.exit_code, 3);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("aotifuzz_test_row_count"), HasSubstr("--load")));
  const Ended loaded = gate({"--ops", library("gate_dependent_ops"), "--load", library("gate_row_counter")});
  EXPECT_EQ(loaded.exit_code, 0) << loaded.out << loaded.err;
  EXPECT_THAT(loaded.out, HasSubstr("1 operators: 1 ok"));
}

TEST(GateLibraries, ThatCannotBeJudgedSayWhyNot) {
  const ScratchFolder folder;
  std::ofstream(folder / "text.so") << "not a library\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {folder / "missing.so", "does not exist"},
      {folder / "text.so", "not a shared library"},
      {library("gate_row_counter"), "registers no operator"},
      {library("gate_aborting_initialiser"), "no configuration file"},
      {library("gate_python_ops"), "needs Python"},
  };
  for (const auto& [path, words] : cases) {
    const Ended ended = gate({"--ops", path});
    EXPECT_EQ(ended.exit_code, 3) << path << ended.out << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(words), HasSubstr("where:"), HasSubstr("to do:"))) << path;
  }
  // Two libraries that register the same names in one process.
  const Ended twice = gate({"--ops", library("gate_ops_after"), "--load", library("gate_ops_before")});
  EXPECT_EQ(twice.exit_code, 3);
  EXPECT_THAT(twice.err, HasSubstr("leave out --load"));
}

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

TEST(GateLibraries, WrongUseIsSaidInThreeParts) {
  const ScratchFolder folder;
  std::ofstream(folder / "bad.spec") << "right::scale x=f99[B]\n";
  std::ofstream(folder / "unknown.spec") << "right::no_such x=f32[B]\n";
  const std::string ops = library("gate_right_ops");
  const std::vector<std::pair<std::vector<std::string>, int>> uses = {
      {{}, 2},
      {{"--ops", ops, "--all"}, 2},
      {{"--ops", ops, "--base", ops, "--init-spec"}, 2},
      {{"--ops", ops, "--timeout", "soon"}, 2},
      {{"--ops", ops, "--only", "right::no_such"}, 3},
      {{"--ops", ops, "--spec", folder / "none.spec"}, 3},
      {{"--ops", ops, "--spec", folder / "bad.spec"}, 3},
      {{"--ops", ops, "--spec", folder / "unknown.spec"}, 3},
  };
  for (const auto& [arguments, code] : uses) {
    const Ended ended = gate(arguments);
    EXPECT_EQ(ended.exit_code, code) << testing::PrintToString(arguments) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("where:"), HasSubstr("to do:"))) << testing::PrintToString(arguments);
  }
}

TEST(GateProgram, WorkerLinksNeitherCudaNorPython) {
  const fs::path worker = fs::path(AOTIFUZZ_PROGRAM).parent_path() / "aotifuzz-gate-worker";
  const std::string libraries = run_program({"readelf", "-d", worker.string()}).out;
  EXPECT_THAT(libraries, HasSubstr("libtorch_cpu"));
  EXPECT_THAT(libraries, AllOf(Not(HasSubstr("libtorch_cuda")), Not(HasSubstr("libcuda")),
                               Not(HasSubstr("libtorch_python")), Not(HasSubstr("libpython"))));
}

}  // namespace
}  // namespace aotifuzz::test
