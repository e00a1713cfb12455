// Faults of the world, done to the real programs: whoever kills a process, fills the disk or takes away the folder gets
// a clear outcome, and nothing is lost but the case in flight. AOTIFUZZ_KILLS: how many kills each series has (default
// 20).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "tests/e2e/command.h"

namespace aotifuzz::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kModel = "example.embedding_mlp";

int kills() {
  const char* given = std::getenv("AOTIFUZZ_KILLS");
  return given ? std::atoi(given) : 20;
}

/// Processes that `pid` started, and those that these started.
std::vector<pid_t> descendants(pid_t pid) {
  std::vector<pid_t> out;
  std::ifstream in("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child = 0; in >> child;) {
    out.push_back(child);
    for (const pid_t further : descendants(child)) out.push_back(further);
  }
  return out;
}

/// Every file below `out` that anybody would read is whole. Returns the names of the findings.
std::set<std::string> expect_whole(const std::string& out) {
  std::set<std::string> findings;
  if (fs::exists(out + "/state.json")) EXPECT_TRUE(json::accept(read(out + "/state.json"))) << out;
  std::error_code none;
  for (fs::directory_iterator it(out + "/findings", none), end; !none && it != end; ++it) {
    const std::string name = it->path().filename();
    if (name.starts_with(".")) continue;
    findings.insert(name);
    EXPECT_TRUE(json::accept(read(it->path() / "finding.json"))) << name;
    // The last input, and the line's end behind it.
    EXPECT_THAT(read(it->path() / "case.txt"), AllOf(HasSubstr("\ninput idx "), EndsWith("\n"))) << name;
    for (const char* file : {"original.txt", "repro.py", "report.md"})
      EXPECT_TRUE(fs::exists(it->path() / file)) << name;
  }
  return findings;
}

std::vector<std::string> fuzz(const std::string& package, const std::string& out, std::vector<std::string> more) {
  std::vector<std::string> command = {AOTIFUZZ_PROGRAM, "fuzz", package, "--out", out, "--seed", "5"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

TEST(InjectedFaults, AKilledWorkerCostsTheCaseInFlight) {
  PACKED(package, kModel);
  const ScratchFolder scratch;
  std::mt19937 random(11);
  Running campaign(fuzz(package, scratch / "out", {"--cases", "1000000", "--json"}));
  int killed = 0;
  // Between two workers there is none for a moment; without one for longer the campaign has ended.
  for (int without = 0, starts = 0; killed < kills() && without < 20;) {
    std::this_thread::sleep_for(milliseconds(std::uniform_int_distribution(20, 700)(random)));
    const std::vector<pid_t> workers = descendants(campaign.pid());
    without = workers.empty() ? without + 1 : 0;
    if (workers.empty()) continue;
    // One that has no child yet is starting, which on a busy machine takes longer than we wait: some starts succeed.
    starts = workers.size() < 2 ? starts + 1 : 0;
    if (starts > 3) continue;
    killed += ::kill(workers[random() % workers.size()], SIGKILL) == 0;
  }
  std::this_thread::sleep_for(milliseconds(1500));
  campaign.send(SIGINT);
  const Ended ended = campaign.wait();
  ASSERT_EQ(ended.exit_code, 0) << "signal " << ended.signal << " after " << killed << " kills\n"
                                << ended.err << ended.out;
  const json summary = json::parse(ended.out);
  EXPECT_GT(summary["cases"], 100 * killed / 20);
  EXPECT_EQ(summary["known_faults"], 0) << "a kill is no fault of the package: " << summary["findings"].dump(1);
  uint64_t not_judged = 0;
  for (const auto& [reason, times] : summary["skips"].items())
    if (reason.find("worker was lost") != reason.npos || reason.find("crash: out of memory") != reason.npos)
      not_judged += times.get<uint64_t>();
  EXPECT_LE(not_judged, static_cast<uint64_t>(killed)) << "at most the case in flight, each time";
  EXPECT_FALSE(expect_whole(scratch / "out").empty()) << "the gaps of this model are found all the same";
  std::printf("%d kills of a worker: %s cases, %s starts, %llu cases lost\n", killed, summary["cases"].dump().c_str(),
              summary["worker"]["starts"].dump().c_str(), static_cast<unsigned long long>(not_judged));
}

TEST(InjectedFaults, AKilledParentLeavesWholeFilesAndTheNextRunGoesOn) {
  PACKED(package, kModel);
  const ScratchFolder scratch;
  const std::string out = scratch / "out";
  std::mt19937 random(12);
  std::set<std::string> seen;
  uint64_t position = 0;
  for (int i = 0; i < kills(); ++i) {
    Running campaign(fuzz(package, out, {"--for", "60s"}));
    std::this_thread::sleep_for(milliseconds(std::uniform_int_distribution(5, i % 4 == 0 ? 2500 : 900)(random)));
    campaign.send(SIGKILL);
    EXPECT_EQ(campaign.wait().signal, SIGKILL);
    const std::set<std::string> now = expect_whole(out);
    for (const std::string& name : seen) EXPECT_TRUE(now.contains(name)) << name << " was there before the kill";
    seen = now;
    if (!fs::exists(out + "/state.json")) continue;
    const json state = json::parse(read(out + "/state.json"));
    const uint64_t next = state["packages"].begin().value()["next_case"]["5"];
    EXPECT_GE(next, position) << "what an earlier run did is not forgotten";
    position = next;
  }
  const Ended last = run_program(fuzz(package, out, {"--for", "2s"}));
  EXPECT_EQ(last.exit_code, 0) << last.err;
  for (const std::string& name : seen) EXPECT_TRUE(expect_whole(out).contains(name));
  for (const fs::path folder : {fs::path(out), fs::path(out) / "findings"})
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
      EXPECT_FALSE(entry.path().filename().string().starts_with(".unfinished-")) << entry.path();
    }
  std::this_thread::sleep_for(milliseconds(2500));  // a worker stuck in a case is given two seconds
  EXPECT_TRUE(processes_named(out).empty());
  std::vector<pid_t> orphans;
  for (const pid_t pid : processes_named("aotifuzz-worker")) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/status");
    const std::string status{std::istreambuf_iterator<char>(in), {}};
    if (status.find("PPid:\t1\n") != status.npos) orphans.push_back(pid);
  }
  EXPECT_TRUE(orphans.empty()) << orphans.size() << " workers outlive their parent";
  std::printf("%d kills of the parent: %zu findings, position %llu\n", kills(), seen.size(),
              static_cast<unsigned long long>(position));
}

/// A file system of its own, in memory; unmounted at the end.
class SmallDisk {
 public:
  SmallDisk(const std::string& path, const std::string& size) : path_(path) {
    fs::create_directories(path);
    mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

void expect_clear_end(const Ended& ended, const std::string& what) {
  EXPECT_EQ(ended.exit_code, 3) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(what));
  EXPECT_THAT(ended.err, HasSubstr("where: "));
  EXPECT_THAT(ended.err, HasSubstr("to do: "));
}

TEST(InjectedFaults, AFullDiskEndsWithAClearMessageAndKeepsWhatWasFound) {
  PACKED(package, kModel);
  const ScratchFolder scratch;
  const std::string disk = scratch / "disk", out = disk + "/out";
  {
    const SmallDisk small(disk, "2m");  // findings, report and statistics take half of it
    if (!small.mounted()) GTEST_SKIP() << "this user may not mount a small file system";
    ASSERT_EQ(run_program(fuzz(package, out, {"--for", "4s"})).exit_code, 0);
    const std::set<std::string> before = expect_whole(out);
    ASSERT_FALSE(before.empty());
    std::ofstream fill(disk + "/fill", std::ios::binary);
    for (const std::string block(4096, 'x'); fill.write(block.data(), 4096).flush();) {
    }
    const Ended full = run_program(fuzz(package, out, {"--for", "20s"}));
    expect_clear_end(full, "No space left on device");
    EXPECT_EQ(expect_whole(out), before);
    fill.close();
    fs::remove(disk + "/fill");
    EXPECT_EQ(run_program(fuzz(package, out, {"--for", "1s"})).exit_code, 0) << "with room again it goes on";
  }
}

TEST(InjectedFaults, AFolderThatCannotBeWrittenIsRefusedAtOnce) {
  PACKED(package, kModel);
  const ScratchFolder scratch;
  std::ofstream(scratch / "file") << "in the way";
  for (const std::string& out : {scratch / "file/out", scratch / "file", std::string("/proc/aotifuzz-out")}) {
    const Ended ended = run_program(fuzz(package, out, {"--cases", "10"}));
    expect_clear_end(ended, "cannot create a f");
    EXPECT_LT(ended.seconds, 10);
  }
  fs::create_directories(scratch / "read-only");
  ::chmod((scratch / "read-only").c_str(), 0555);
  if (::geteuid() != 0)
    expect_clear_end(run_program(fuzz(package, scratch / "read-only", {"--cases", "10"})), "cannot");
  ::chmod((scratch / "read-only").c_str(), 0755);
}

TEST(InjectedFaults, AFullStandardOutputIsNoSuccess) {
  PACKED(package, kModel);
  const ScratchFolder scratch;
  const Ended ended = run_program(
      {"sh", "-c",
       "exec '" AOTIFUZZ_PROGRAM "' fuzz '" + package + "' --out '" + (scratch / "out") + "' --cases 20 >/dev/full"});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.err, AnyOf(HasSubstr("could not be written"), HasSubstr("No space left")));
}

}  // namespace
}  // namespace aotifuzz::test
