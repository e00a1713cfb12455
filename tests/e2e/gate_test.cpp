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

#include "tests/e2e/gate_command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

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
  ASSERT_GE(plants.size(), 40u);
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

}  // namespace
}  // namespace aotifuzz::test
