// Campaigns under libFuzzer, and within a budget as a pull request has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr const char* kFaulty = "faults.f198201_interpolate_nearest";
constexpr const char* kClean = "clean.repeat_rows";

bool has_engine() { return fs::exists(fs::path(AOTIFUZZ_PROGRAM).parent_path() / "aotifuzz-engine"); }

#define PACKED_AND_ENGINE(variable, name) \
  PACKED(variable, name);                 \
  if (!has_engine()) GTEST_SKIP() << "this build has no aotifuzz-engine: install libclang-rt-19-dev"

std::vector<fs::path> units_in(const std::string& folder) {
  std::vector<fs::path> units;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) units.push_back(entry.path());
  return units;
}

json fuzz(const std::string& package, const std::string& out, std::vector<std::string> more, int exit_code) {
  std::vector<std::string> words = {"fuzz", package, "--engine", "libfuzzer", "--out", out, "--json", "--quiet"};
  words.insert(words.end(), more.begin(), more.end());
  const Ended ended = aotifuzz(words);
  EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
  return json::parse(ended.out, nullptr, false);
}

TEST(Guided, FindsTheFaultAndKeepsWhatReachedSomethingNewAsCases) {
  PACKED_AND_ENGINE(package, kFaulty);
  const ScratchFolder scratch;
  const json summary = fuzz(package, scratch / "out", {"--cases", "300"}, 1);
  EXPECT_EQ(summary["cases"], 300);
  const auto units = units_in(scratch / "out/corpus");
  ASSERT_GT(units.size(), 20u);
  for (const fs::path& unit : units) EXPECT_THAT(read(unit), StartsWith("aotifuzz-case 1\n")) << unit;
  // Any of them is a case like others.
  EXPECT_NE(aotifuzz({"replay", units.front(), "--package", package, "--times", "1"}).exit_code, 2);

  // The next run begins with them, and knows the fault.
  const json next = fuzz(package, scratch / "out", {"--cases", std::to_string(units.size())}, 1);
  EXPECT_EQ(next["refused_units"], 0);
  EXPECT_TRUE(next["findings"].empty()) << next["findings"].dump(1);
  EXPECT_GE(units_in(scratch / "out/corpus").size(), units.size());
}

TEST(Guided, TheSameSeedGivesTheSameCampaign) {
  PACKED_AND_ENGINE(package, kClean);
  const ScratchFolder scratch;
  json rounds[2];
  for (int k = 0; k < 2; ++k)
    rounds[k] = fuzz(package, scratch / ("out" + std::to_string(k)), {"--cases", "400", "--seed", "9"}, 0);
  for (const char* field : {"coverage", "verdicts", "outcomes", "skips", "passed_over"})
    EXPECT_EQ(rounds[0][field], rounds[1][field]) << field;
}

TEST(Guided, CampaignsAtTheSameTimeShareACorpus) {
  PACKED_AND_ENGINE(package, kClean);
  const ScratchFolder scratch;
  std::vector<std::unique_ptr<Running>> running;
  for (const char* seed : {"1", "2"})
    running.push_back(std::make_unique<Running>(std::vector<std::string>{
        AOTIFUZZ_PROGRAM, "fuzz", package, "--engine", "libfuzzer", "--corpus", scratch / "shared", "--out",
        scratch / (std::string("out") + seed), "--seed", seed, "--cases", "1500", "--json", "--quiet"}));
  for (auto& one : running) {
    const Ended ended = one->wait();
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(json::parse(ended.out)["cases"], 1500);
  }
  for (const fs::path& unit : units_in(scratch / "shared")) EXPECT_THAT(read(unit), StartsWith("aotifuzz-case 1\n"));
  EXPECT_FALSE(fs::exists(scratch / "out1/corpus"));
}

TEST(Guided, KilledCampaignsLeaveNoEngineAndGoOn) {
  PACKED_AND_ENGINE(package, kFaulty);
  const ScratchFolder scratch;
  fs::create_symlink(package, scratch / "killed.pt2");
  for (int round = 0; round < 3; ++round) {
    Running running({AOTIFUZZ_PROGRAM, "fuzz", scratch / "killed.pt2", "--engine", "libfuzzer", "--jobs", "2", "--out",
                     scratch / "out"});
    const auto has_units = [&] {
      return fs::exists(scratch / "out/corpus") && !units_in(scratch / "out/corpus").empty();
    };
    for (int i = 0; i < 600 && !has_units(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    running.send(SIGKILL);
    running.wait();
    for (int i = 0; i < 100 && !processes_named(scratch.path()).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(processes_named(scratch.path()).empty()) << "round " << round;
  }
  fuzz(scratch / "killed.pt2", scratch / "out", {"--cases", "400"}, 1);
  std::set<std::string> keys;
  size_t findings = 0;
  for (const auto& entry : fs::directory_iterator(scratch / "out/findings")) {
    const json finding = json::parse(read(entry.path() / "finding.json"));
    keys.insert(finding["section"].get<std::string>() + " " + finding["signature"].get<std::string>());
    ++findings;
  }
  EXPECT_GE(findings, 1u);
  EXPECT_EQ(keys.size(), findings);
}

TEST(Guided, AnEngineThatIsKilledTakesNothingAlong) {
  PACKED_AND_ENGINE(package, kFaulty);
  const ScratchFolder scratch;
  Running running({AOTIFUZZ_PROGRAM, "fuzz", package, "--engine", "libfuzzer", "--out", scratch / "out", "--cases",
                   "600", "--json", "--quiet"});
  const std::string corpus = scratch / "out/corpus";
  const auto has_units = [&] { return fs::exists(corpus) && units_in(corpus).size() > 3; };
  for (int i = 0; i < 600 && !has_units(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const pid_t engine : processes_named(corpus)) ::kill(engine, SIGKILL);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const json summary = json::parse(ended.out, nullptr, false);
  EXPECT_EQ(summary["cases"], 600);
  ASSERT_EQ(summary["notes"].size(), 1u);
  EXPECT_THAT(summary["notes"][0].get<std::string>(), HasSubstr("at random"));
}

TEST(Guided, UnitsOfAnotherProgramAndGarbageAreCountedAndLeftAlone) {
  PACKED_AND_ENGINE(package, kClean);
  const ScratchFolder scratch;
  fs::create_directories(scratch / "corpus");
  std::ofstream(scratch / "corpus/garbage") << std::string(5000, '\xff');
  std::ofstream(scratch / "corpus/other") << "aotifuzz-case 1\ninput nobody f32[3] const(1)\n";
  const json summary = fuzz(package, scratch / "out", {"--corpus", scratch / "corpus", "--cases", "50"}, 0);
  EXPECT_EQ(summary["refused_units"], 2);
  EXPECT_EQ(summary["cases"], 50);
  EXPECT_TRUE(fs::exists(scratch / "corpus/garbage"));
}

TEST(Guided, FlagsOfLibFuzzerPassAndWrongOnesAreToldBeforeAnyWork) {
  PACKED_AND_ENGINE(package, kClean);
  const ScratchFolder scratch;
  const Ended help = aotifuzz({"fuzz", package, "--", "-help=1"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.err, HasSubstr("entropic"));
  const std::vector<std::string> start = {"fuzz", package, "--out", scratch / "out", "--cases", "30"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> words = start;
    words.insert(words.end(), more.begin(), more.end());
    return aotifuzz(words);
  };
  EXPECT_EQ(with({"--engine", "libfuzzer", "--", "-entropic=0"}).exit_code, 0);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--engine", "libfuzzer", "--", "-fork=2"},
                                             {"--engine", "libfuzzer", "--", "-jobs=2"},
                                             {"--engine", "libfuzzer", "--", "-max_len=10"},
                                             {"--engine", "libfuzzer", "--", "-runs=10"},
                                             {"--engine", "libfuzzer", "--", "-nosuchflag=3"},
                                             {"--engine", "random", "--", "-entropic=0"},
                                             {"--engine", "random", "--corpus", scratch / "corpus"},
                                             {"--engine", "afl"},
                                             {"another.pt2"},
                                             {"--pr", "--for", "10s"},
                                             {"--budget", "10s", "--for", "10s"},
                                             {"--budget", "soon"}}) {
    const Ended ended = with(wrong);
    EXPECT_EQ(ended.exit_code, 2) << ::testing::PrintToString(wrong) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("where:"), HasSubstr("to do:")));
  }
  std::ofstream(scratch / "file") << "x";
  EXPECT_EQ(with({"--engine", "libfuzzer", "--corpus", scratch / "file"}).exit_code, 3);
}

/// The workflow of the README, with this test's package in place of the user's and less time.
std::vector<std::vector<std::string>> readme_steps() {
  std::vector<std::vector<std::string>> steps;
  std::istringstream lines(read(AOTIFUZZ_README));
  for (std::string line; std::getline(lines, line);) {
    for (const char* verb : {"fuzz", "replay"}) {
      const std::string mark = std::string("run: aotifuzz ") + verb + " ";
      const size_t at = line.find(mark);
      if (at == std::string::npos) continue;
      std::istringstream words(line.substr(at + mark.size()));
      std::vector<std::string> command = {AOTIFUZZ_PROGRAM, verb};
      for (std::string word; words >> word;) command.push_back(word == "10m" ? "12s" : word);
      steps.push_back(command);
    }
  }
  return steps;
}

TEST(PullRequest, TheWorkflowOfTheReadmeFailsOnlyOnWhatIsNew) {
  PACKED(faulty, kFaulty);
  PACKED(clean, kClean);
  const auto steps = readme_steps();
  ASSERT_EQ(steps.size(), 2u);
  const std::vector<std::string>&replay_step = steps[0][1] == "replay" ? steps[0] : steps[1],
        &fuzz_step = steps[0][1] == "fuzz" ? steps[0] : steps[1];
  const ScratchFolder scratch;
  fs::create_directories(scratch / "build");
  fs::create_directories(scratch / "corpus");
  fs::copy_file(clean, scratch / "build/model.pt2");
  EXPECT_EQ(run_program(fuzz_step, scratch.path()).exit_code, 0) << "nothing is wrong, and there is no corpus yet";

  fs::remove_all(scratch / "aotifuzz-out");
  fs::copy_file(faulty, scratch / "build/model.pt2", fs::copy_options::overwrite_existing);
  ::setenv("GITHUB_ACTIONS", "true", 1);
  const Ended broken = run_program(fuzz_step, scratch.path());
  ::unsetenv("GITHUB_ACTIONS");
  EXPECT_EQ(broken.exit_code, 1) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("::error file="));

  // What is known is taken into the corpus: from then on it fails the replay until it is fixed, and fuzzing no more.
  ASSERT_EQ(aotifuzz({"corpus", "merge", "corpus", "aotifuzz-out/findings"}, scratch.path()).exit_code, 0);
  fs::remove_all(scratch / "aotifuzz-out");
  const Ended known = run_program(fuzz_step, scratch.path());
  EXPECT_EQ(known.exit_code, 0) << known.out << known.err;
  EXPECT_EQ(run_program(replay_step, scratch.path()).exit_code, 1);
}

TEST(PullRequest, ABudgetThatIsOverBeforeTheFirstCaseIsNoSuccess) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  const Ended ended = aotifuzz({"fuzz", package, "--pr", "--budget", "1ms", "--out", scratch / "out"});
  EXPECT_EQ(ended.exit_code, 3) << ended.out;
  EXPECT_THAT(ended.out, HasSubstr("no case was run"));
}

TEST(PullRequest, ABudgetEndsTheWholeRun) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  const Ended ended = aotifuzz({"fuzz", package, "--budget", "12s", "--out", scratch / "out", "--json", "--quiet"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  const json summary = json::parse(ended.out);
  // Not a matter of milliseconds: without a limit it would go on for ever.
  EXPECT_LT(summary["seconds"].get<double>(), 60);
  EXPECT_GT(summary["cases"], 50);
}

}  // namespace
}  // namespace aotifuzz::test
