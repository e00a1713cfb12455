// `aotifuzz gate --from`: arguments from the calls of an exported program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLibrary = AOTIFUZZ_GATE_OPS "/libgate_called_ops.so";

/// The program of called_ops.py, exported once.
class GateFrom : public testing::Test {
 public:
  static void SetUpTestSuite() {
    folder_ = new ScratchFolder;
    const Ended exported =
        run_program({AOTIFUZZ_PYTHON, AOTIFUZZ_GATE_SOURCES "/called_ops.py", kLibrary, *folder_ / "called.pt2"});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
  }
  static void TearDownTestSuite() { delete folder_; }

 protected:
  static std::string package() { return *folder_ / "called.pt2"; }
  static std::string write(const std::string& name, const std::string& text) {
    std::ofstream(*folder_ / name) << text;
    return *folder_ / name;
  }
  static json judged(std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), {"gate", "--ops", kLibrary, "--json", "-"});
    const Ended ended = aotifuzz(arguments);
    EXPECT_EQ(ended.exit_code, code) << ended.out << ended.err;
    const json out = json::parse(ended.out, nullptr, false);
    return out.is_object() ? out : json{{"operators", json::array()}};
  }
  static std::map<std::string, json> by_name(const json& result) {
    std::map<std::string, json> out;
    for (const json& op : result["operators"]) out[op["name"].get<std::string>().substr(8)] = op;
    return out;
  }

 private:
  static inline ScratchFolder* folder_ = nullptr;
};

TEST_F(GateFrom, JudgesWhatASchemaAloneCannot) {
  const auto before = by_name(judged({}, 0));
  auto after = by_name(judged({"--from", package()}, 1));
  const std::map<std::string, std::string> planted = {{"gated_even", "meta-wrong-size"}, {"spread", "kernel-overruns"}};
  for (const char* name :
       {"project", "gated", "gated_even", "interleave", "spread", "split_heads", "rows_of", "styled"}) {
    EXPECT_EQ(before.at(name)["status"], "not judged") << name;
    EXPECT_EQ(after[name]["status"], planted.count(name) ? "faults" : "ok") << after[name].dump(1);
    EXPECT_EQ(after[name]["preconditions"].size(), 0u) << after[name].dump(1);
  }
  std::istringstream lines(read(AOTIFUZZ_GATE_SOURCES "/called_ops.cpp"));
  int number = 0, seen = 0;
  for (std::string line, name, kind; std::getline(lines, line);) {
    ++number;
    const size_t at = line.find("// PLANTED ");
    if (at == std::string::npos) continue;
    std::istringstream(line.substr(at + 11)) >> name >> kind;
    ASSERT_EQ(after[name]["faults"].size(), 1u) << after[name].dump(1);
    EXPECT_EQ(after[name]["faults"][0]["kind"], kind);
    EXPECT_EQ(after[name]["faults"][0]["line"], number);
    ++seen;
  }
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(after["plain"]["status"], "ok") << "nobody calls it: drawn from the schema";
  EXPECT_EQ(after["plain"]["drawn_by_default"], true);
  EXPECT_THAT(after["project"]["arguments"].get<std::string>(),
              AllOf(HasSubstr("b=f32[24]"), HasSubstr("\n"), HasSubstr("b=None")))
      << "two calls, each with its own arguments";
}

TEST_F(GateFrom, CallsAreCountedAndThoseThatCannotBeSaidAreNamed) {
  const json result = judged({"--from", package()}, 1);
  ASSERT_EQ(result["calls"].size(), 10u);
  for (const json& call : result["calls"]) {
    const bool moved = call["operator"] == "called::moved";
    EXPECT_EQ(call["not_used"], moved ? "argument `device` is a device" : "") << call;
  }
  const Ended text = aotifuzz({"gate", "--ops", kLibrary, "--from", package()});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("arguments of 9 calls of 8 operators are from "),
                    HasSubstr("not used, 1 call: called::moved (moved)"), HasSubstr("1 operator not called there")));
}

TEST_F(GateFrom, ALineOfTheSpecComesFirst) {
  const std::string spec = write("one.spec", "called::gated_even x=f32[B,8] gate=f32[B,4]\n");
  const json result = judged({"--from", package(), "--spec", spec, "--only", "called::gated_even"}, 0);
  EXPECT_EQ(by_name(result)["gated_even"]["arguments"], "called::gated_even x=f32[B,8] gate=f32[B,4]");
  for (const json& call : result["calls"])
    if (call["operator"] == "called::gated_even") EXPECT_EQ(call["not_used"], "the line of the spec is used");
}

TEST_F(GateFrom, TheSpecThatItWritesFindsTheSame) {
  const Ended written = aotifuzz({"gate", "--ops", kLibrary, "--from", package(), "--init-spec"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out,
              AllOf(HasSubstr("\ncalled::gated x=f32[s"), HasSubstr("# arguments of 9 calls of 8 operators")));
  const auto result = by_name(judged({"--spec", write("all.spec", written.out)}, 1));
  for (const auto& [name, op] : result)
    EXPECT_EQ(op["faults"].size(), name == "gated_even" || name == "spread" || name == "rows_of" ? 1u : 0u) << op;
  // Nobody says any more that the integers are nobody's word: the user left them as they are.
  ASSERT_EQ(result.at("rows_of")["faults"].size(), 1u);
  EXPECT_EQ(result.at("rows_of")["faults"][0]["kind"], "one-sided-error");
}

TEST_F(GateFrom, CallsOfAnotherSchemaAreNotUsed) {
  const Ended ended = aotifuzz({"gate", "--base", kLibrary, "--ops", kLibrary, "--from", package(), "--all"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("called::gated_even: 1 fault"), HasSubstr("9 calls of 8 operators")));
}

TEST_F(GateFrom, WhatGivesNoCallsIsAnErrorOfThreeParts) {
  PACKED(model, "example.embedding_mlp");
  const std::string right = AOTIFUZZ_GATE_OPS "/libgate_right_ops.so";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--ops", right, "--from", package()}, "calls no operator of the library"},
      {{"--ops", kLibrary, "--from", model}, "calls no custom operator"},
      {{"--ops", kLibrary, "--from", write("text.pt2", "no archive")}, "zip archive"},
      {{"--ops", kLibrary, "--from", "missing.pt2"}, "missing.pt2"}};
  for (auto [arguments, words] : cases) {
    arguments.insert(arguments.begin(), "gate");
    const Ended ended = aotifuzz(arguments);
    EXPECT_EQ(ended.exit_code, 3) << words << ended.out;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(words), HasSubstr("where:"), HasSubstr("to do:")));
  }
}

}  // namespace
}  // namespace aotifuzz::test
