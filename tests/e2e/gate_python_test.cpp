// `aotifuzz gate --fakes`: operators whose fakes are Python, with planted faults, without any, and in modules that
// cannot be imported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
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
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kLibrary = AOTIFUZZ_GATE_OPS "/libgate_python_fake_ops.so";
const std::string kModule = AOTIFUZZ_GATE_SOURCES "/python_fake_ops.py";

Ended gate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "gate");
  return aotifuzz(arguments);
}

json gate_json(std::vector<std::string> arguments, int expected_code) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const Ended ended = gate(arguments);
  EXPECT_EQ(ended.exit_code, expected_code) << ended.err;
  const json out = json::parse(ended.out, nullptr, false);
  return out.is_object() ? out : json{{"operators", json::array()}};
}

std::map<std::string, json> by_name(const json& result) {
  std::map<std::string, json> out;
  for (const json& op : result["operators"]) out[op["name"]] = op;
  return out;
}

/// Kind and line, by file and operator: from the comments "PLANTED operator kind".
std::map<std::string, std::set<std::pair<std::string, int>>> planted() {
  std::map<std::string, std::set<std::pair<std::string, int>>> out;
  for (const char* file : {"python_fake_ops.cpp", "python_fake_ops.py"}) {
    std::istringstream lines(read(AOTIFUZZ_GATE_SOURCES "/" + std::string(file)));
    int number = 0;
    for (std::string line, op, kind; std::getline(lines, line);) {
      ++number;
      const size_t at = line.find(" PLANTED ");
      if (at == std::string::npos) continue;
      std::istringstream(line.substr(at + 9)) >> op >> kind;
      if (op != "operator") out[op].insert({kind, number});
    }
  }
  return out;
}

TEST(GatePython, FindsEachPlantedFaultOnItsLineAndNothingElse) {
  const auto plants = planted();
  size_t count = 0;
  for (const auto& [name, places] : plants) count += places.size();
  ASSERT_EQ(count, 28u);
  const auto operators = by_name(gate_json({"--ops", kLibrary, "--fakes", kModule, "--timeout", "4s"}, 1));
  int faulty = 0, right = 0;
  for (const auto& [name, op] : operators) {
    const std::string plain = name.substr(name.find("::") + 2);
    if (plain.starts_with("right_")) {
      ++right;
      EXPECT_EQ(op["status"], "ok") << op.dump(1);
      EXPECT_EQ(op["preconditions"].size(), 0u) << op.dump(1);
      continue;
    }
    if (plain == "elsewhere") {
      EXPECT_EQ(op["status"], "not judged");
      EXPECT_THAT(op["reason"].get<std::string>(), HasSubstr("python_fake_ops.py registers no fake for it"));
      continue;
    }
    ++faulty;
    ASSERT_TRUE(plants.count(plain)) << name;
    ASSERT_EQ(op["faults"].size(), 1u) << op.dump(1);
    const json& fault = op["faults"][0];
    EXPECT_TRUE(plants.at(plain).count({fault["kind"], fault["line"]})) << name << fault.dump(1);
    EXPECT_THAT(fault["file"].get<std::string>(), HasSubstr("python_fake_ops."));
    EXPECT_THAT(fault["to_do"].get<std::string>(), Not(IsEmpty())) << name;
  }
  EXPECT_EQ(faulty, 28);
  EXPECT_EQ(right, 15);
  EXPECT_THAT(processes_named("aotifuzz_pack.fakes"), IsEmpty()) << "also those that hung are gone";
}

TEST(GatePython, SaysItAsOfACppMeta) {
  const ScratchFolder folder;
  const Ended ended =
      gate({"--ops", kLibrary, "--fakes", kModule, "--only", "pyfake::by_int", "--only", "pyfake::too_small", "--only",
            "pyfake::unbacked_columns", "--sarif", folder / "gate.sarif", "--junit", folder / "gate.xml", "--github"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("`int(x.shape[0])` turns s0 into the number 7"), HasSubstr("(by_int)"),
                    HasSubstr("meta [s0, s1] = [1,1], kernel [2,1]"), HasSubstr("meta [u0, 3] = "),
                    HasSubstr("::error file="), HasSubstr("3 operators: 0 ok, 3 with faults (3), 0 not judged")));
  const json sarif = json::parse(read(folder / "gate.sarif"));
  ASSERT_EQ(sarif["runs"][0]["results"].size(), 3u);
  EXPECT_THAT(sarif["runs"][0]["results"].dump(), HasSubstr("python_fake_ops.py"));
  EXPECT_THAT(read(folder / "gate.xml"), HasSubstr("pyfake::too_small"));
}

TEST(GatePython, WithoutTheModuleTheyAreNeitherOkNorFaulty) {
  // One kernel overruns: that shows without any fake.
  const json result = gate_json({"--ops", kLibrary, "--timeout", "4s"}, 1);
  int named = 0;
  for (const json& op : result["operators"]) {
    const bool overruns = op["name"] == "pyfake_unnamed::overruns";
    EXPECT_EQ(op["status"], overruns ? "faults" : "not judged") << op.dump(1);
    for (const json& fault : op["faults"]) EXPECT_EQ(fault["kind"], "kernel-overruns");
    named += op["reason"].get<std::string>().find("--fakes python_fake_ops") != std::string::npos;
  }
  EXPECT_GE(named, 30);
}

TEST(GatePython, TheLibraryMayNameTheModule) {
  const Ended ended =
      run_program({"env", "PYTHONPATH=" AOTIFUZZ_GATE_SOURCES, AOTIFUZZ_PROGRAM, "gate", "--ops", kLibrary, "--python",
                   AOTIFUZZ_PYTHON, "--only", "pyfake::dtype", "--only", "pyfake::right_copy"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("meta-wrong-dtype"), HasSubstr("ok: pyfake::right_copy")));
  const Ended none = gate({"--ops", AOTIFUZZ_GATE_OPS "/libgate_right_ops.so", "--python", AOTIFUZZ_PYTHON});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("no module is known"), HasSubstr("--fakes")));
}

TEST(GatePython, OperatorsThatArePythonAltogetherNeedNoLibrary) {
  const ScratchFolder folder;
  std::ofstream(folder / "alone.py") << R"(
import torch
@torch.library.custom_op("alone::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] // 2].clone()
@halve.register_fake
def halve_fake(x):
    return x.new_empty((x.shape[0] + 1) // 2, *x.shape[1:])
@torch.library.custom_op("alone::right", mutates_args=())
def right(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x)
@right.register_fake
def right_fake(x):
    return torch.empty_like(x)
)";
  const Ended ended = gate({"--fakes", folder / "alone.py"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("alone::halve: 1 fault"), HasSubstr("alone.py:7 (halve_fake)"),
                               HasSubstr("2 operators: 1 ok, 1 with faults (1), 0 not judged")));
}

/// What happens to a module with this text: the reason why pyfake::dtype is not judged.
std::string reason_with(const std::string& module) {
  const ScratchFolder folder;
  std::ofstream(folder / "broken.py") << module;
  const json result = gate_json(
      {"--ops", kLibrary, "--fakes", folder / "broken.py", "--only", "pyfake::dtype", "--timeout", "500ms"}, 3);
  if (result["operators"].size() != 1) return "";
  EXPECT_EQ(result["operators"][0]["status"], "not judged");
  return result["operators"][0]["reason"];
}

TEST(GatePython, AModuleThatCannotBeImportedIsTheReason) {
  EXPECT_THAT(reason_with("import torch\nimport no_such_module_at_all\n"),
              AllOf(HasSubstr("was not imported: ModuleNotFoundError"), HasSubstr("no_such_module_at_all"),
                    HasSubstr("broken.py:2")));
  EXPECT_THAT(reason_with("def broken(:\n"), HasSubstr("was not imported: SyntaxError"));
  EXPECT_THAT(reason_with("import sys\nsys.exit(5)\n"), HasSubstr("was not imported: SystemExit"));
  EXPECT_THAT(reason_with("import os\nprint('before the end', flush=True)\nos.abort()\n"),
              AllOf(HasSubstr("ended the Python process: Aborted"), HasSubstr("before the end")));
  EXPECT_THAT(reason_with("while True:\n    pass\n"), HasSubstr("did not end within 6 s"));
  EXPECT_THAT(processes_named("aotifuzz_pack.fakes"), IsEmpty());
}

TEST(GatePython, APythonThatCannotServeIsSaid) {
  const ScratchFolder folder;
  const auto script = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << "#!/bin/sh\n" << text << "\n";
    chmod((folder / name).c_str(), 0755);
    return folder / name;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {folder / "none", "cannot be started"},
      {script("old", "echo '{\"torch\":\"1.0.0\"}' >&3; exec sleep 20"), "Python has torch 1.0.0, and the worker was"},
      {script("bare", "echo '{\"error\":\"torch cannot be imported\"}' >&3"), "torch cannot be imported"},
      {script("dies", "echo complaint >&2; exit 9"), "exit code 9; complaint"},
      {script("babbles", "echo hello >&3; exec sleep 20"), "Python cannot be used"}};
  for (const auto& [python, words] : cases) {
    const Ended ended = gate({"--ops", kLibrary, "--fakes", kModule, "--python", python});
    EXPECT_EQ(ended.exit_code, 3) << python << ended.out << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(words), HasSubstr("where: " + python), HasSubstr("to do:")));
  }
}

TEST(GatePython, ComparesTwoLibraries) {
  const Ended ended = gate({"--base", kLibrary, "--ops", kLibrary, "--fakes", kModule, "--only", "pyfake::too_small",
                            "--only", "pyfake::right_positive"});
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("0 changed; faults: 0 new, 0 fixed, 1 as before"));
}

TEST(GatePython, NothingToJudgeIsWrongUse) {
  for (const std::vector<std::string>& use :
       {std::vector<std::string>{}, {"--python", "python3"}, {"--fakes", kModule, "--base", kLibrary}}) {
    const Ended ended = gate(use);
    EXPECT_EQ(ended.exit_code, 2) << testing::PrintToString(use);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("where:"), HasSubstr("to do:"))) << testing::PrintToString(use);
  }
}

}  // namespace
}  // namespace aotifuzz::test
