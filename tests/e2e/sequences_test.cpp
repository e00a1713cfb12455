// Cases of several calls as a user meets them: state that an operator keeps from call to call (gate_ops/state_op.cpp)
// is found by a campaign, reduced to the calls that it takes, replayed, and shown again by the Python reproducer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kLibrary = std::string(AOTIFUZZ_GATE_OPS) + "/libstate_op.so";

class Sequences : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::getenv("AOTIFUZZ_MODELS")) GTEST_SKIP() << "AOTIFUZZ_MODELS is not set: run tests/run.sh";
    package_ = std::string(std::getenv("AOTIFUZZ_MODELS")) + "/explain_models.custom_operator.pt2";
  }
  void TearDown() override { unsetenv("STATE_OP"); }

  /// Findings of a campaign of sequences over the operator with that state.
  json campaign(const std::string& state) {
    setenv("STATE_OP", state.c_str(), 1);
    const Ended ended = aotifuzz({"fuzz", package_, "--ops", kLibrary, "--generator", "sequences", "--cases", "400",
                                  "--out", folder_ / ("out-" + state), "--json"});
    json summary = json::parse(ended.out, nullptr, false);
    EXPECT_TRUE(summary.is_object()) << ended.out << ended.err;
    json faults = json::array();
    for (const json& finding : summary.value("findings", json::array()))
      if (finding["section"] == "fault") faults.push_back(finding);
    return faults;
  }
  static std::string minimal(const json& finding) { return read(finding["folder"].get<std::string>() + "/case.txt"); }
  /// The reproducer needs the operator's library, which it names.
  Ended reproduce(const json& finding) {
    return run_program({AOTIFUZZ_PYTHON, finding["folder"].get<std::string>() + "/repro.py"}, folder_ / "");
  }

  std::string package_;
  ScratchFolder folder_;
};

TEST_F(Sequences, WhatALongerCallLeavesBehindIsReducedToOneFurtherCall) {
  const json faults = campaign("longest");
  ASSERT_EQ(faults.size(), 1u) << faults.dump(1);
  EXPECT_EQ(faults[0]["class"], "unstable");
  EXPECT_THAT(faults[0]["signature"].get<std::string>(), HasSubstr("after other calls"));
  EXPECT_THAT(minimal(faults[0]),
              HasSubstr("\ninput x f32[1,3] const(0.0)\nthen\ninput x f32[2,3] const(0.0)\nrun times=1\n"))
      << "one call with one row more is enough";
  EXPECT_EQ(aotifuzz({"replay", faults[0]["folder"]}).exit_code, 1);
  const Ended python = reproduce(faults[0]);
  EXPECT_EQ(python.exit_code, 1) << python.out << python.err;
  EXPECT_THAT(python.out, HasSubstr("against compiled run 2: output 0"));
}

TEST_F(Sequences, MemoryThatIsLostWithEachCallIsALeak) {
  const json faults = campaign("lost");
  ASSERT_EQ(faults.size(), 1u) << faults.dump(1);
  EXPECT_EQ(faults[0]["class"], "leak");
  EXPECT_EQ(aotifuzz({"replay", faults[0]["folder"]}).exit_code, 1);
  const Ended python = reproduce(faults[0]);
  EXPECT_EQ(python.exit_code, 1) << python.out << python.err;
  EXPECT_THAT(python.out, HasSubstr("bytes with each call"));
}

TEST_F(Sequences, MemoryThatCallersShareIsFoundWithTwoOfThem) {
  const json faults = campaign("shared");
  ASSERT_EQ(faults.size(), 1u) << faults.dump(1);
  EXPECT_EQ(faults[0]["class"], "unstable");
  EXPECT_THAT(faults[0]["signature"].get<std::string>(), HasSubstr("several callers"));
  EXPECT_THAT(minimal(faults[0]), ContainsRegex("\nthen\ninput x f32.*\nrun .*callers=2\n"))
      << "callers that all want the same see nothing";
  // Python's threads may not meet: then it says so, and does not end with an error of its own.
  const Ended python = reproduce(faults[0]);
  EXPECT_THAT(python.out, AnyOf(HasSubstr("caller 2 of 2: output 0"), HasSubstr("threads of Python")));
  EXPECT_NE(python.exit_code, 3) << python.err;
}

TEST_F(Sequences, ALeakKeepsAsManyRunsAsItTakes) {
  const json faults = campaign("lost");
  ASSERT_EQ(faults.size(), 1u) << faults.dump(1);
  EXPECT_THAT(minimal(faults[0]), HasSubstr("run times=24\n"));
}

TEST_F(Sequences, CallsThatTakeTimeAreNoHang) {
  const std::string resnet = std::string(std::getenv("AOTIFUZZ_MODELS")) + "/real.resnet18.pt2";
  const Ended inspected = aotifuzz({"inspect", resnet, "--json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  const std::string name = json::parse(inspected.out)["inputs"][0]["name"];
  const std::string input = "input " + name + " f32[2,3,64,64] const(1.0)\n";
  for (const std::string& more : {"then times=1000\n" + input, std::string("run times=1000\n")}) {
    std::ofstream(folder_ / "long.txt") << "aotifuzz-case 1\n" << input << more;
    const Ended ended = aotifuzz({"replay", folder_ / "long.txt", "--package", resnet, "--times", "1"});
    EXPECT_EQ(ended.exit_code, 0) << more << ended.out << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("hang:")));
  }
}

TEST_F(Sequences, ARightOperatorHasNoFault) { EXPECT_EQ(campaign("none"), json::array()); }

TEST_F(Sequences, UpdatedWeightsReachThePackageAndTheReference) {
  const std::string mlp = std::string(std::getenv("AOTIFUZZ_MODELS")) + "/example.embedding_mlp.pt2";
  const std::string inputs =
      "aotifuzz-case 1\ninput x f32[2,3,16] uniform(-1.0,1.0,seed=1)\ninput idx i64[2,3] const(1)\n";
  const auto outcome = [&](const std::string& run) {
    std::ofstream(folder_ / "case.txt") << inputs << run;
    return aotifuzz({"replay", folder_ / "case.txt", "--package", mlp, "--json"});
  };
  for (const char* constants : {"updated", "swapped"}) {
    const Ended ended = outcome(std::string("run constants=") + constants + "\n");
    EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, Not(HasSubstr("not updated"))) << constants;
  }
}

}  // namespace
}  // namespace aotifuzz::test
