// The commands as a user types them, on the embedded example packages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr const char* kFaulty = "faults.f191499_extremes_of_bytes";
constexpr const char* kClean = "example.embedding_mlp";

TEST(Commands, HelpNamesTheCommandsAndTheParentLinksNoTorch) {
  const Ended help = aotifuzz({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command :
       {"fuzz", "replay", "report", "corpus", "minimize", "inspect", "run", "trace", "doctor", "sanitize"})
    EXPECT_THAT(help.out, HasSubstr(command));
  const std::string libraries = run_program({"ldd", AOTIFUZZ_PROGRAM}).out;
  EXPECT_THAT(libraries, HasSubstr("libc.so"));
  EXPECT_THAT(libraries, Not(HasSubstr("torch")));
  EXPECT_THAT(libraries, Not(HasSubstr("cuda")));
}

TEST(Commands, WrongUseEndsWithTwoAndThreeParts) {
  const std::vector<std::vector<std::string>> uses = {{},
                                                      {"fuzz"},
                                                      {"fuzz", "x.pt2", "--odd"},
                                                      {"fuzz", "x.pt2", "--for", "soon"},
                                                      {"fuzz", "x.pt2", "--fail-on", "all"},
                                                      {"fuzz", "x.pt2", "--cases", "-1"},
                                                      {"fuzz", "x.pt2", "--cases", "0"},
                                                      {"fuzz", "x.pt2", "--seed", "99999999999999999999"},
                                                      {"fuzz", "x.pt2", "--memory-mib", "-5"},
                                                      {"replay", "x", "--times", "0"},
                                                      {"fuzz", "x.pt2", "--out", ""},
                                                      {"audit", "x.pt2", "--out", ""},
                                                      {"run", "x.pt2", "--seed", "-1"},
                                                      {"run", "x.pt2", "--save-case", ""},
                                                      {"frobnicate"}};
  for (const auto& use : uses) {
    const Ended ended = aotifuzz(use);
    EXPECT_EQ(ended.exit_code, 2) << ::testing::PrintToString(use);
    EXPECT_THAT(ended.err, HasSubstr("where:")) << ::testing::PrintToString(use);
    EXPECT_THAT(ended.err, HasSubstr("to do:")) << ::testing::PrintToString(use);
  }
}

TEST(Commands, ABadCaseIsNamedAndTheRestOfACorpusIsDone) {
  const ScratchFolder scratch;
  for (const char* name : {"good", "bad"}) fs::create_directories(scratch / "corpus/" + name);
  std::ofstream(scratch / "corpus/good/case.txt") << "aotifuzz-case 1\ninput x f32[2] const(1.0)\n";
  std::ofstream(scratch / "corpus/bad/case.txt") << "no case\n";
  const Ended stats = aotifuzz({"corpus", "stats", scratch / "corpus"});
  EXPECT_EQ(stats.exit_code, 0);
  EXPECT_THAT(stats.out, HasSubstr("1 cases, "));
  EXPECT_THAT(stats.out, HasSubstr("1 case left out"));
  EXPECT_THAT(stats.err, HasSubstr("corpus/bad/case.txt"));
  const Ended merged = aotifuzz({"corpus", "merge", scratch / "into", scratch / "corpus"});
  EXPECT_EQ(merged.exit_code, 0);
  EXPECT_TRUE(fs::exists(scratch / "into/good/case.txt"));
  EXPECT_THAT(merged.out, HasSubstr("1 case left out"));
  fs::remove_all(scratch / "corpus/good");
  EXPECT_EQ(aotifuzz({"corpus", "stats", scratch / "corpus"}).exit_code, 3) << "none can be read";
}

TEST(Commands, ATraceOverwritesNothing) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  EXPECT_EQ(aotifuzz({"trace", package, "--save", scratch / "saved"}).exit_code, 0);
  const Ended again = aotifuzz({"trace", package, "--save", scratch / "saved"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("the folder holds something"));
}

TEST(Commands, WhereResultsGoIsSeenBeforeTheWork) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  std::ofstream(scratch / "file") << "x";
  for (const char* flag : {"audit", "run"}) {
    const bool audit = std::string(flag) == "audit";
    std::vector<std::string> use = {flag, package, audit ? "--out" : "--save-case", scratch / "file"};
    if (!audit) use.push_back("x=3x5x16");
    const Ended file = aotifuzz(use);
    EXPECT_EQ(file.exit_code, 2) << file.err;
    EXPECT_EQ(file.out, "");
    use[3] = "/proc/x";
    const Ended none = aotifuzz(use);
    EXPECT_EQ(none.exit_code, 3) << none.err;
    EXPECT_EQ(none.out, "");
  }
}

TEST(Commands, AWrongWorldEndsWithThree) {
  const ScratchFolder scratch;
  std::ofstream(scratch / "bad.pt2") << "not a zip";
  for (const std::vector<std::string>& use :
       {std::vector<std::string>{"fuzz", scratch / "none.pt2", "--out", scratch / "o"},
        {"fuzz", scratch / "bad.pt2", "--out", scratch / "o"},
        {"replay", scratch / "none"},
        {"inspect", scratch / "bad.pt2"}}) {
    const Ended ended = aotifuzz(use);
    EXPECT_EQ(ended.exit_code, 3) << ::testing::PrintToString(use);
    EXPECT_THAT(ended.err, HasSubstr("to do:"));
  }
}

TEST(Commands, AFullErrorStreamChangesNoExitCode) {
  const Ended ended = run_program({"/bin/sh", "-c", std::string(AOTIFUZZ_PROGRAM) + " inspect none.pt2 2>/dev/full"});
  EXPECT_EQ(ended.exit_code, 3);
}

TEST(Commands, AReportThatCannotBeWrittenIsNoSuccess) {
  const Ended ended = run_program({"/bin/sh", "-c", std::string(AOTIFUZZ_PROGRAM) + " --help >/dev/null"});
  EXPECT_EQ(ended.exit_code, 0);
  PACKED(package, "example.embedding_mlp");
  const Ended full =
      run_program({"/bin/sh", "-c", std::string(AOTIFUZZ_PROGRAM) + " inspect '" + package + "' >/dev/full"});
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_THAT(full.err, HasSubstr("to do:"));
}

TEST(Commands, TheProgramOfAnotherModelIsNoReference) {
  PACKED(package, "example.embedding_mlp.stock");
  PACKED(other, "example.argmax_transposed.ep");
  PACKED(own, "example.embedding_mlp.ep");
  const Ended wrong = aotifuzz({"inspect", package, "--reference", other});
  EXPECT_EQ(wrong.exit_code, 3);
  EXPECT_THAT(wrong.err, HasSubstr("not the program"));
  EXPECT_EQ(aotifuzz({"inspect", package, "--reference", own}).exit_code, 0);
}

TEST(Commands, ACaseForAnotherPackageIsRefused) {
  PACKED(package, "example.integer_division");
  const ScratchFolder scratch;
  std::ofstream(scratch / "swapped.txt")
      << "aotifuzz-case 1\ninput width i32[1] const(1)\ninput value i32[1] const(0)\n";
  std::ofstream(scratch / "few.txt") << "aotifuzz-case 1\ninput value i32[1] const(0)\n";
  for (const char* name : {"swapped.txt", "few.txt"}) {
    const Ended ended = aotifuzz({"replay", scratch / name, "--package", package});
    EXPECT_EQ(ended.exit_code, 3) << name;
    EXPECT_THAT(ended.err, HasSubstr("value, width")) << name;
  }
}

TEST(Commands, OneBadFileDoesNotHideTheOtherCasesOfAFolder) {
  PACKED(package, "example.integer_division");
  const ScratchFolder scratch;
  for (const char* name : {"bad", "good", "other"}) fs::create_directories(scratch / name);
  std::ofstream(scratch / "bad/case.txt") << "aotifuzz-case 1\ninput value i32[1] wrong(1)\n";
  std::ofstream(scratch / "good/case.txt")
      << "aotifuzz-case 1\ninput value i32[1] const(7)\ninput width i32[1] const(2)\n";
  std::ofstream(scratch / "other/case.txt") << "aotifuzz-case 1\ninput x f32[1] const(0)\n";
  const Ended ended = aotifuzz({"replay", scratch / ".", "--package", package});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.out, HasSubstr("good: passes"));
  EXPECT_THAT(ended.out, HasSubstr("bad/case.txt: not run"));
  EXPECT_THAT(ended.out, HasSubstr("3 cases: 2 not run, 1 passes"));
  const json report = json::parse(aotifuzz({"replay", scratch / ".", "--package", package, "--json"}).out);
  EXPECT_EQ(report["not_run"], 2);
  EXPECT_EQ(report["good"], 1);
}

TEST(Commands, DoctorProvesWhatThisInstallationNotices) {
  const Ended text = aotifuzz({"doctor", "--device", "cpu"});
  EXPECT_EQ(text.exit_code, 0) << text.out << text.err;
  EXPECT_THAT(text.out, HasSubstr(", 0 broken"));
  const json report = json::parse(aotifuzz({"doctor", "--device", "cpu", "--json"}).out);
  std::map<std::string, std::string> details;
  for (const json& row : report["rows"]) {
    EXPECT_EQ(row["status"], "ok") << row.dump();
    details[row["what"]] = row["detail"];
  }
  EXPECT_THAT(details["cpu: nothing wrong"], HasSubstr("passes"));
  for (const char* fault : {"one-byte overrun, read", "one-byte overrun, write", "one-byte underrun, read",
                            "use after free", "memory never written"})
    EXPECT_THAT(details[std::string("cpu: ") + fault], HasSubstr("noticed as memory-fault")) << fault;
  EXPECT_THAT(details["cpu: integer division by zero"], HasSubstr("noticed as crash"));
  EXPECT_THAT(details["cpu: endless run"], HasSubstr("noticed as hang"));
  EXPECT_THAT(details["cpu: torch's allocator is out"], HasSubstr("goes unnoticed"));
}

TEST(Commands, AVersionOfTorchThatIsNotHereIsRefusedWithThoseThatAre) {
  PACKED(package, "example.embedding_mlp");
  const json report = json::parse(aotifuzz({"doctor", "--device", "cpu", "--json"}).out);
  std::string own;
  for (const json& row : report["rows"])
    if (const std::string what = row["what"]; own.empty() && what.starts_with("worker for torch "))
      own = what.substr(17);
  ASSERT_NE(own, "") << report.dump();
  EXPECT_EQ(aotifuzz({"trace", package, "--torch", own}).exit_code, 0);
  const Ended absent = aotifuzz({"trace", package, "--torch", "1.0.0"});
  EXPECT_EQ(absent.exit_code, 3);
  EXPECT_THAT(absent.err, HasSubstr(own));
  EXPECT_THAT(absent.err, HasSubstr("AOTIFUZZ_TORCH=1.0.0"));
  EXPECT_EQ(aotifuzz({"doctor", "--torch", "1.0.0"}).exit_code, 3);
  EXPECT_EQ(aotifuzz({"trace", package, "--torch", "newest"}).exit_code, 2);
  const ScratchFolder scratch;
  std::ofstream(scratch / "case.txt") << "aotifuzz-case 1\ninput x f32[1,1,16] const(0)\ninput idx i64[1,1] const(0)\n";
  EXPECT_EQ(aotifuzz({"replay", scratch / "case.txt", "--package", package, "--torch", own + "," + own}).exit_code, 2);
  EXPECT_EQ(aotifuzz({"replay", scratch / "case.txt", "--package", package, "--html", scratch / "m.html"}).exit_code,
            2);
}

TEST(Commands, SanitizeSaysThatItIsForCudaPackages) {
  PACKED(package, "example.integer_division");
  const ScratchFolder scratch;
  std::ofstream(scratch / "case.txt") << "aotifuzz-case 1\ninput value i32[1] const(7)\ninput width i32[1] const(2)\n";
  const Ended ended = aotifuzz({"sanitize", scratch / "case.txt", "--package", package});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr("runs on the CPU"));
}

TEST(Commands, WithoutAReferenceNothingIsAFaultAndWrongNumbersAreNotFixed) {
  PACKED(package, "example.argmax_transposed.stock");
  const ScratchFolder scratch;
  const Ended fuzzed = aotifuzz({"fuzz", package, "--cases", "200", "--out", scratch / "out", "--json"});
  EXPECT_EQ(fuzzed.exit_code, 0) << fuzzed.out << fuzzed.err;
  const json summary = json::parse(fuzzed.out);
  EXPECT_THAT(summary["oracles"].dump(), Not(HasSubstr("close")));
  fs::create_directories(scratch / "finding");
  std::ofstream(scratch / "finding/case.txt")
      << "aotifuzz-case 1\ninput logits f32[2,1] ramp(0.0,1.0)\ninput bias f32[1,2] const(0.0)\n";
  std::ofstream(scratch / "finding/expect.json") << R"({"class": "misses-error", "signature": "x"})";
  const Ended replayed = aotifuzz({"replay", scratch / "finding", "--package", package});
  EXPECT_EQ(replayed.exit_code, 3);
  EXPECT_THAT(replayed.out, HasSubstr("not judged"));
  EXPECT_THAT(replayed.out, HasSubstr("no reference"));
}

TEST(Commands, AFaultyPackageGivesAFaultThatReplaysAndIsMinimal) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  const Ended fuzzed = aotifuzz({"fuzz", package, "--cases", "600", "--out", scratch / "out"});
  EXPECT_EQ(fuzzed.exit_code, 1) << fuzzed.out << fuzzed.err;
  EXPECT_THAT(fuzzed.out, HasSubstr("16 fails, 15 passes"));
  EXPECT_THAT(fuzzed.out, HasSubstr("wrong-result"));

  // The minimum: its wrong value is computed. The arg outputs return whatever the stack held, which another process may
  // hold otherwise.
  std::string folder;
  for (const auto& entry : fs::directory_iterator(scratch / "out/findings")) {
    const std::string finding = read(entry.path() / "finding.json");
    if (finding.find("\"wrong-result output 0 aten.min.default\"") != std::string::npos &&
        finding.find("\"one_minimal\": true") != std::string::npos)
      folder = entry.path();
  }
  ASSERT_FALSE(folder.empty()) << fuzzed.out;
  const Ended replayed = aotifuzz({"replay", folder});
  EXPECT_EQ(replayed.exit_code, 1);
  EXPECT_THAT(replayed.out, HasSubstr("still fails 5 of 5"));
  EXPECT_EQ(aotifuzz({"replay", folder, "--expect-failing"}).exit_code, 0);

  const Ended minimized = aotifuzz({"minimize", folder});
  EXPECT_EQ(minimized.exit_code, 0);
  EXPECT_THAT(minimized.err, HasSubstr("1-minimal"));
  EXPECT_THAT(minimized.out, HasSubstr("aotifuzz-case 1\n"));
  const Ended original = aotifuzz({"minimize", folder + "/original.txt", "--package", package, "--in-place"});
  EXPECT_EQ(original.exit_code, 0) << original.err;
  EXPECT_THAT(read(folder + "/original.txt"), HasSubstr("[16]"));
}

TEST(Commands, TheReproducerNeedsOnlyTorchAndShowsTheDifference) {
  // A fault that shows in every process: what depends on old stack memory, as some of kFaulty's do, may not come in
  // Python.
  PACKED(package, "faults.f198201_interpolate_nearest");
  const ScratchFolder scratch;
  const Ended fuzzed = aotifuzz({"fuzz", package, "--cases", "60", "--out", scratch / "out"});
  int shown = 0;
  for (const auto& entry : fs::directory_iterator(scratch / "out/findings")) {
    if (entry.path().filename().string().rfind("wrong-result", 0) != 0) continue;
    const Ended ended = run_program({AOTIFUZZ_PYTHON, entry.path() / "repro.py"}, scratch.path());
    EXPECT_EQ(ended.exit_code, 1) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("elements differ"));
    if (++shown == 1) break;  // importing torch and compiling takes most of a minute
  }
  EXPECT_EQ(shown, 1) << fuzzed.out;
}

TEST(Commands, ACleanPackageGivesNoFault) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  const Ended fuzzed = aotifuzz({"fuzz", package, "--cases", "500", "--out", scratch / "out"});
  EXPECT_EQ(fuzzed.exit_code, 0) << fuzzed.out << fuzzed.err;
  EXPECT_THAT(fuzzed.out, HasSubstr("faults: 0"));
}

TEST(Commands, TheSameSeedGivesTheSameCampaignAndASecondRunGoesOn) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  const auto summary = [&](const std::string& out) {
    return json::parse(aotifuzz({"fuzz", package, "--cases", "300", "--out", scratch / out, "--json"}).out);
  };
  const json a = summary("a"), b = summary("b");
  for (const char* part : {"coverage", "outcomes", "within_contract"}) EXPECT_EQ(a[part], b[part]) << part;
  const json second = summary("a");
  EXPECT_EQ(second["first_case"], 300);
  for (const json& old : a["findings"])
    for (const json& now : second["findings"]) EXPECT_NE(old["signature"], now["signature"]) << "reported twice";
}

TEST(Commands, CtrlCEndsCleanlyWithTheSummaryAndLeavesNoProcess) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  // A path of its own tells this run's worker from others on the machine.
  fs::create_symlink(package, scratch / "ctrl-c.pt2");
  Running running({AOTIFUZZ_PROGRAM, "fuzz", scratch / "ctrl-c.pt2", "--out", scratch / "out"});
  for (int i = 0; i < 600 && !fs::exists(scratch / "out/state.json"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  running.send(SIGINT);
  const Ended ended = running.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("stopped early"));
  EXPECT_THAT(ended.out, HasSubstr("faults: 0"));
  EXPECT_TRUE(processes_named(scratch.path()).empty());
}

TEST(Commands, AKilledParentTakesItsWorkerAlongAndLosesNothingThatItKnew) {
  PACKED(package, kFaulty);
  const ScratchFolder scratch;
  fs::create_symlink(package, scratch / "killed.pt2");
  {
    Running running({AOTIFUZZ_PROGRAM, "fuzz", scratch / "killed.pt2", "--out", scratch / "out"});
    for (int i = 0; i < 600 && running.err_so_far().find("FAULT") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    running.send(SIGKILL);
    running.wait();
  }
  for (int i = 0; i < 100 && !processes_named(scratch.path()).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(processes_named(scratch.path()).empty());
  const json state = json::parse(read(scratch / "out/state.json"));
  for (const auto& [hash, section] : state["packages"].items())
    for (const auto& [key, known] : section["known"].items())
      EXPECT_TRUE(fs::exists(scratch / ("out/findings/" + known["slug"].get<std::string>() + "/finding.json"))) << key;
  EXPECT_EQ(aotifuzz({"fuzz", scratch / "killed.pt2", "--cases", "5", "--out", scratch / "out"}).exit_code, 1);
}

TEST(Commands, AStrayReadIsPinnedToKernelBufferAndBrokenRelation) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  std::ofstream(scratch / "case.txt")
      << "aotifuzz-case 1\ninput x f32[1,500,16] const(0)\ninput idx i64[1,3] const(0)\n";
  const Ended ended = aotifuzz({"replay", scratch / "case.txt", "--package", package, "--fail-on", "gaps"});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("memory-fault read past end of input idx, breaks idx.size(1) == x.size(1)"));
  EXPECT_THAT(ended.out, HasSubstr("the first byte past the end of input idx (24 bytes) in cpp_fused_add_embedding_0"));
  EXPECT_THAT(ended.out, HasSubstr("idx.size(1) = 3, x.size(1) = 500"));
  EXPECT_THAT(ended.out, HasSubstr("stack: cpp_fused_add_embedding_0"));
}

TEST(Commands, ARefusalOfALegalInputSaysWhereItWasThrown) {
  PACKED(package, kClean);
  const ScratchFolder scratch;
  std::ofstream(scratch / "case.txt")
      << "aotifuzz-case 1\ninput x f32[1,3,16] const(0)\ninput idx i64[1,3] const(0)\nrun checks=on\n";
  const Ended ended = aotifuzz({"replay", scratch / "case.txt", "--package", package, "--times", "2"});
  EXPECT_THAT(ended.out, HasSubstr("rejects-legal"));
  EXPECT_THAT(ended.out, ContainsRegex("stack: [^\n]*check_input_0[^\n]*\\(package"));
  const json about = json::parse(aotifuzz({"inspect", package, "--json"}).out);
  int minor = 0;
  ASSERT_EQ(std::sscanf(about["pack"]["torch"].get<std::string>().c_str(), "2.%d", &minor), 1);
  if (minor >= 15)  // packages have line tables from there on
    EXPECT_THAT(ended.out, ContainsRegex("generated line: wrapper.cpp:[0-9]+: throw"));
}

TEST(Commands, InspectPrintsTextAndJson) {
  PACKED(package, kClean);
  const Ended text = aotifuzz({"inspect", package});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("x"));
  EXPECT_TRUE(json::parse(aotifuzz({"inspect", package, "--json"}).out, nullptr, false).is_object());
}

}  // namespace
}  // namespace aotifuzz::test
