// Campaigns as they run overnight and in CI: several jobs, reports, known issues, baselines, status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// One fault, found within a few cases, with every version of torch that is supported.
constexpr const char* kFaulty = "faults.f198201_interpolate_nearest";
constexpr const char* kClean = "example.embedding_mlp";

void expect_valid(const std::string& junit, const std::string& sarif) {
  const Ended xml = run_program({"xmllint", "--nonet", "--noout", "--schema", AOTIFUZZ_SCHEMAS "/junit-10.xsd", junit});
  EXPECT_EQ(xml.exit_code, 0) << xml.err;
  const Ended checked = run_program({AOTIFUZZ_PYTHON, AOTIFUZZ_SCHEMAS "/check_sarif.py", sarif});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

std::string xpath(const std::string& expression, const std::string& file) {
  return run_program({"xmllint", "--nonet", "--xpath", expression, file}).out;
}

/// Signatures of the findings on disk, each with its section and package: no two may be the same.
std::vector<std::string> findings_in(const std::string& out) {
  std::vector<std::string> keys;
  for (const auto& entry : fs::directory_iterator(out + "/findings")) {
    const json finding = json::parse(read(entry.path() / "finding.json"));
    keys.push_back(finding["section"].get<std::string>() + " " + finding["signature"].get<std::string>());
  }
  return keys;
}

void expect_no_duplicates(const std::string& out) {
  const std::vector<std::string> keys = findings_in(out);
  EXPECT_FALSE(keys.empty());
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size()) << ::testing::PrintToString(keys);
}

TEST(Campaigns, CiFormsAgreeWithTheExitCode) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  const Ended fuzzed = aotifuzz(
      {"fuzz", package, "--cases", "60", "--out", "out", "--junit", "junit.xml", "--sarif", "fuzz.sarif", "--github"},
      scratch.path());
  EXPECT_EQ(fuzzed.exit_code, 1) << fuzzed.err;
  expect_valid(scratch / "junit.xml", scratch / "fuzz.sarif");
  EXPECT_EQ(xpath("count(//testcase[failure])", scratch / "junit.xml"), "1\n") << "gaps are no failures";
  EXPECT_EQ(xpath("string(//failure/@type)", scratch / "junit.xml"), "wrong-result\n");
  EXPECT_THAT(fuzzed.out, HasSubstr("::error file=out/findings/wrong-result-"));
  const json results = json::parse(read(scratch / "fuzz.sarif"))["runs"][0]["results"];
  EXPECT_EQ(results.size(), findings_in(scratch / "out").size());

  const Ended replayed = aotifuzz(
      {"replay", "out/findings", "--times", "1", "--junit", "r.xml", "--sarif", "r.sarif", "--json", "--github"},
      scratch.path());
  EXPECT_EQ(replayed.exit_code, 1) << replayed.err;
  expect_valid(scratch / "r.xml", scratch / "r.sarif");
  EXPECT_EQ(xpath("count(//testcase)", scratch / "r.xml"), std::to_string(results.size()) + "\n");
  EXPECT_EQ(xpath("count(//testcase[failure])", scratch / "r.xml"), "1\n");
  EXPECT_TRUE(json::parse(replayed.out, nullptr, false).is_object()) << "annotations spoil no JSON";
  EXPECT_THAT(replayed.err, HasSubstr("::error file=out/findings/wrong-result-"));
}

TEST(Campaigns, AReportThatCannotBeWrittenIsSaid) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  const Ended ended =
      aotifuzz({"fuzz", package, "--cases", "5", "--out", scratch / "out", "--junit", scratch / "none/junit.xml"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("to do:"));
}

TEST(Campaigns, JobsShareWhatTheyFind) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  fs::create_symlink(package, scratch / "jobs.pt2");
  const Ended fuzzed = aotifuzz({"fuzz", scratch / "jobs.pt2", "--cases", "400", "--jobs", "3", "--seed", "5", "--out",
                                 scratch / "out", "--json"});
  EXPECT_EQ(fuzzed.exit_code, 1) << fuzzed.err;
  const json summary = json::parse(fuzzed.out);
  EXPECT_EQ(summary["cases"], 400);
  ASSERT_EQ(summary["jobs"].size(), 3u);
  EXPECT_EQ(summary["jobs"][2]["seed"], 7);
  expect_no_duplicates(scratch / "out");
  EXPECT_TRUE(processes_named(scratch.path()).empty());
  const json again = json::parse(aotifuzz({"fuzz", scratch / "jobs.pt2", "--cases", "50", "--jobs", "3", "--seed", "5",
                                           "--out", scratch / "out", "--json"})
                                     .out);
  for (const json& job : again["jobs"]) EXPECT_GT(job["first_case"], 0) << "each goes on where its seed stopped";
}

TEST(Campaigns, JobsThatAreKilledLoseNothingAndFindNothingTwice) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  fs::create_symlink(package, scratch / "killed.pt2");
  size_t known = 0;
  for (int round = 0; round < 3; ++round) {
    Running running({AOTIFUZZ_PROGRAM, "fuzz", scratch / "killed.pt2", "--jobs", "2", "--out", scratch / "out"});
    const std::string wanted = round == 0 ? "FAULT" : "gap: ";
    for (int i = 0; i < 600 && running.err_so_far().find(wanted) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    running.send(SIGKILL);
    running.wait();
    for (int i = 0; i < 100 && !processes_named(scratch.path()).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(processes_named(scratch.path()).empty());
    const json state = json::parse(read(scratch / "out/state.json"));
    const json& section = state["packages"].begin().value();
    EXPECT_GE(section["known"].size(), known) << "what was known stays known";
    known = section["known"].size();
    for (const auto& [key, entry] : section["known"].items())
      EXPECT_TRUE(fs::exists(scratch / ("out/findings/" + entry["slug"].get<std::string>() + "/finding.json"))) << key;
  }
  EXPECT_EQ(
      aotifuzz({"fuzz", scratch / "killed.pt2", "--cases", "20", "--jobs", "2", "--out", scratch / "out"}).exit_code,
      1);
  expect_no_duplicates(scratch / "out");
}

TEST(Campaigns, CtrlCEndsEveryJobWithTheSummary) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  fs::create_symlink(package, scratch / "ctrl-c.pt2");
  Running running({AOTIFUZZ_PROGRAM, "fuzz", scratch / "ctrl-c.pt2", "--jobs", "2", "--out", scratch / "out"});
  for (int i = 0; i < 600 && !fs::exists(scratch / "out/state.json"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  running.send(SIGTERM);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("stopped early"));
  EXPECT_TRUE(fs::exists(scratch / "out/report.html"));
  EXPECT_TRUE(processes_named(scratch.path()).empty());
}

TEST(Campaigns, KnownIssuesFailNothingAndRaiseAnAlarmWhenTheyAreGone) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  std::ofstream(scratch / "fails.txt") << "aotifuzz-case 1\ninput x f32[1,1,2,1] ramp(0.0,1.0)\n";
  std::ofstream(scratch / "passes.txt") << "aotifuzz-case 1\ninput x f32[1,1,1,1] const(0.0)\n";
  const auto known = [&](const std::string& name, const std::string& file) {
    std::ofstream(scratch / name)
        << "issue https://example.org/1\nclass wrong-result\nop aten.upsample_nearest2d.vec\nwhere x.size(2) "
           ">= 2\ncase "
        << file << "\nreason reads the wrong order\n";
    return scratch / name;
  };
  const std::string still = known("still.txt", "fails.txt"), gone = known("gone.txt", "passes.txt");
  const auto fuzz = [&](const std::string& file) {
    return aotifuzz({"fuzz", package, "--cases", "40", "--out", scratch / "out", "--known", file, "--strict-known"});
  };
  const Ended quiet = fuzz(still);
  EXPECT_EQ(quiet.exit_code, 0) << quiet.out;
  EXPECT_THAT(quiet.out, HasSubstr("faults: 0"));
  EXPECT_THAT(quiet.out, HasSubstr("known issue https://example.org/1: reads the wrong order"));
  const Ended alarm = fuzz(gone);
  EXPECT_EQ(alarm.exit_code, 1);
  EXPECT_THAT(alarm.out, HasSubstr("passes.txt no longer fails"));
  EXPECT_EQ(aotifuzz({"fuzz", package, "--cases", "1", "--out", scratch / "out", "--known", gone}).exit_code, 0);

  const auto replay = [&](const std::string& file, const std::string& flag) {
    return aotifuzz({"replay", scratch / "fails.txt", "--package", package, "--known", file, flag});
  };
  EXPECT_EQ(replay(still, "--strict-known").exit_code, 0);
  EXPECT_EQ(replay(gone, "--strict-known").exit_code, 1);
  EXPECT_EQ(replay(gone, "--times=2").exit_code, 0) << "an alarm alone changes no exit code";
  EXPECT_EQ(aotifuzz({"replay", scratch / "fails.txt", "--package", package}).exit_code, 1);

  std::ofstream(scratch / "bad.txt") << "issue 1\nclass odd\n";
  const Ended bad = fuzz(scratch / "bad.txt");
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, HasSubstr("bad.txt, line 2"));
}

TEST(Campaigns, ABaselineLetsOnlyNewSignaturesFail) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  ASSERT_EQ(aotifuzz({"fuzz", package, "--cases", "40", "--out", scratch / "base"}).exit_code, 1);
  const Ended same =
      aotifuzz({"fuzz", package, "--cases", "40", "--out", scratch / "same", "--baseline", scratch / "base"});
  EXPECT_EQ(same.exit_code, 0) << same.out;
  EXPECT_THAT(same.out, HasSubstr("in the baseline"));
  for (const auto& entry : fs::directory_iterator(scratch / "base/findings"))
    if (entry.path().filename().string().starts_with("wrong-result")) fs::remove_all(entry.path());
  EXPECT_EQ(
      aotifuzz({"fuzz", package, "--cases", "40", "--out", scratch / "new", "--baseline", scratch / "base"}).exit_code,
      1);
  EXPECT_EQ(
      aotifuzz({"fuzz", package, "--cases", "1", "--out", scratch / "new", "--baseline", scratch / "none"}).exit_code,
      3);
}

TEST(Campaigns, JsonLinesAreOneObjectEachAndQuietIsQuiet) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  const Ended lines =
      aotifuzz({"fuzz", package, "--for", "3s", "--jobs", "2", "--out", scratch / "out", "--json-lines"});
  std::map<std::string, int> events;
  std::istringstream in(lines.out);
  json last;
  for (std::string line; std::getline(in, line);) {
    last = json::parse(line, nullptr, false);
    ASSERT_TRUE(last.is_object()) << line;
    ++events[last["event"]];
  }
  EXPECT_GE(events["status"], 1);
  EXPECT_GE(events["finding"], 1);
  EXPECT_EQ(events["summary"], 1);
  EXPECT_EQ(last["event"], "summary");
  EXPECT_EQ(lines.err, "");
  const Ended quiet = aotifuzz({"fuzz", package, "--cases", "5", "--out", scratch / "out", "--quiet"});
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(quiet.out, HasSubstr("faults: "));
}

TEST(Campaigns, ATerminalShowsOneLineThatIsDrawnAgain) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  const std::string command =
      std::string(AOTIFUZZ_PROGRAM) + " fuzz '" + package + "' --for 2s --jobs 2 --out " + (scratch / "out");
  const Ended ended = run_program({"script", "-qec", command, "/dev/null"});
  EXPECT_THAT(ended.out, HasSubstr("\r\x1b[K"));
  EXPECT_THAT(ended.out, HasSubstr("cases/s ("));
}

TEST(Campaigns, AReportIsOneWellFormedPageThatCanBeWrittenAgain) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  const Ended fuzzed = aotifuzz({"fuzz", package, "--cases", "60", "--out", scratch / "out"});
  EXPECT_THAT(fuzzed.out, HasSubstr("report: " + (scratch / "out/report.html")));
  const std::string page = read(scratch / "out/report.html");
  EXPECT_THAT(page, HasSubstr("<h2>Faults: 1</h2>"));
  EXPECT_THAT(page, HasSubstr("What was not tested"));
  EXPECT_EQ(run_program({"xmllint", "--nonet", "--noout", scratch / "out/report.html"}).exit_code, 0);
  fs::remove(scratch / "out/report.html");
  EXPECT_EQ(aotifuzz({"report", scratch / "out"}).exit_code, 0);
  EXPECT_EQ(read(scratch / "out/report.html"), page);
  EXPECT_EQ(aotifuzz({"report", scratch / "none"}).exit_code, 3);
}

TEST(Campaigns, FindingsBecomeACorpusThatReplays) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  ASSERT_EQ(aotifuzz({"fuzz", package, "--cases", "60", "--out", scratch / "out"}).exit_code, 1);
  const std::string findings = scratch / "out/findings", corpus = scratch / "corpus";
  const Ended merged = aotifuzz({"corpus", "merge", corpus, findings});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(aotifuzz({"corpus", "merge", corpus, findings}).out, HasSubstr("0 of "));
  EXPECT_FALSE(fs::exists(corpus + "/lock"));
  EXPECT_THAT(aotifuzz({"corpus", "stats", corpus}).out, HasSubstr("fault wrong-result"));
  EXPECT_EQ(aotifuzz({"corpus", "distil", corpus, "--to", scratch / "small"}).exit_code, 0);
  EXPECT_EQ(aotifuzz({"corpus", "distil", corpus, "--to", scratch / "small"}).exit_code, 2) << "it is not empty";
  EXPECT_EQ(aotifuzz({"replay", scratch / "small", "--expect-failing", "--times", "2"}).exit_code, 0);
}

TEST(Campaigns, WrongUseIsSaid) {
  for (const std::vector<std::string>& use : {std::vector<std::string>{"fuzz", "x.pt2", "--jobs", "0"},
                                              {"fuzz", "x.pt2", "--strict-known"},
                                              {"fuzz", "x.pt2", "--json", "--json-lines"},
                                              {"corpus"},
                                              {"corpus", "merge", "x"},
                                              {"report"}}) {
    const Ended ended = aotifuzz(use);
    EXPECT_EQ(ended.exit_code, 2) << ::testing::PrintToString(use);
    EXPECT_THAT(ended.err, HasSubstr("to do:"));
  }
}

}  // namespace
}  // namespace aotifuzz::test
