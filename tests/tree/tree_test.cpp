// Rules about the tree itself: what stands at the top, who includes whom, which tests mirror which sources, leftovers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = AOTIFUZZ_SOURCE_DIR;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Tracked files, relative to the root: what `git ls-files` says, so that builds and caches do not count.
std::vector<std::string> tracked_files() {
  std::vector<std::string> files;
  const std::string command =
      "git -C '" + kRoot.string() + "' ls-files --cached --others --exclude-standard 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return files;
  std::string text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (fs::exists(kRoot / line)) files.push_back(line);
  return files;
}

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

bool is_cpp(const std::string& file) {
  const std::string extension = fs::path(file).extension();
  return extension == ".cpp" || extension == ".h" || extension == ".cu";
}

std::vector<std::string> includes_of(const std::string& file) {
  static const std::regex kInclude(R"re(^\s*#include\s*[<"]([^>"]+)[>"])re");
  std::vector<std::string> found;
  std::istringstream lines(read_file(kRoot / file));
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.push_back(match[1]);
  }
  return found;
}

TEST(Tree, SeesTheRepository) { ASSERT_GT(tracked_files().size(), 50u) << "git ls-files found nothing in " << kRoot; }

TEST(Tree, TopLevelHoldsOnlyWhatTheLayoutNames) {
  const std::set<std::string> allowed = {"CMakeLists.txt", "CMakePresets.json",
                                         "README.md",      "harness",
                                         "generators",     "oracles",
                                         "corpus",         "tests",
                                         "bench",          ".ci"};
  std::set<std::string> seen;
  for (const std::string& file : tracked_files()) seen.insert(file.substr(0, file.find('/')));
  for (const std::string& entry : seen)
    EXPECT_TRUE(allowed.contains(entry) || entry[0] == '.') << entry << " does not belong at the top of the tree";
}

TEST(Tree, IncludesPointDownTheLayers) {
  // folder -> folders of ours that it may include (itself always).
  const std::map<std::string, std::set<std::string>> allowed = {
      {"core", {}},
      {"package", {"core"}},
      {"store", {"core"}},
      {"campaign", {"core", "package", "store"}},
      {"generators", {"core", "package"}},
      {"oracles", {"core", "package"}},
      {"worker", {"core", "package", "store", "oracles"}},
      {"gate", {"core", "package", "store", "oracles", "worker"}},
      {"gate_report", {"core", "package", "store"}},
  };
  const std::set<std::string> ours = {"core",    "package", "store",   "campaign", "generators",
                                      "oracles", "worker",  "targets", "gate",     "gate_report"};
  for (const std::string& file : tracked_files()) {
    if (!is_cpp(file)) continue;
    const fs::path path(file);
    const std::string first = *path.begin();
    const std::string folder = first == "harness" ? std::next(path.begin())->string() : first;
    const auto rule = allowed.find(folder);
    if (rule == allowed.end()) continue;
    for (const std::string& include : includes_of(file)) {
      const std::string target = include.substr(0, include.find('/'));
      if (include.find('/') == std::string::npos || !ours.contains(target) || target == folder) continue;
      EXPECT_TRUE(rule->second.contains(target)) << file << " includes " << include;
    }
  }
}

TEST(Tree, OnlyWorkerOraclesAndGateIncludeLibtorch) {
  for (const std::string& file : tracked_files()) {
    if (!is_cpp(file)) continue;
    if (starts_with(file, "oracles/") || starts_with(file, "harness/worker/") || starts_with(file, "harness/gate/") ||
        file == "harness/targets/worker_main.cpp" || file == "harness/targets/cuda_worker_main.cpp" ||
        starts_with(file, "tests/") || starts_with(file, "bench/"))
      continue;
    for (const std::string& include : includes_of(file))
      EXPECT_FALSE(starts_with(include, "ATen/") || starts_with(include, "c10/") || starts_with(include, "torch/"))
          << file << " includes " << include;
  }
}

TEST(Tree, EveryUnitTestMirrorsASource) {
  const std::set<std::string> mirrored = {"core",    "package", "store", "campaign",   "generators",
                                          "oracles", "worker",  "gate",  "gate_report"};
  for (const std::string& file : tracked_files()) {
    if (!starts_with(file, "tests/") || !file.ends_with("_test.cpp")) continue;
    const fs::path path(file);
    const std::string folder = *std::next(path.begin());
    if (!mirrored.contains(folder)) continue;
    std::string stem = path.stem();
    stem.resize(stem.size() - std::string("_test").size());
    const std::string base = (folder == "generators" || folder == "oracles") ? folder : "harness/" + folder;
    const auto has_source = [&](const std::string& name) {
      return fs::exists(kRoot / base / (name + ".cpp")) || fs::exists(kRoot / base / (name + ".h")) ||
             fs::exists(kRoot / base / "passes" / (name + ".cpp")) ||
             fs::exists(kRoot / base / "cuda" / (name + ".cpp"));
    };
    // A source may have several tests: campaign_jobs_test.cpp is one of campaign.cpp.
    bool found = has_source(stem);
    for (std::string name = stem; !found && name.find('_') != std::string::npos; found = has_source(name))
      name.resize(name.rfind('_'));
    EXPECT_TRUE(found) << file << " has no source " << base << "/" << stem << ".{h,cpp}";
  }
}

TEST(Tree, HeadersAreGuardedOnce) {
  for (const std::string& file : tracked_files()) {
    if (!file.ends_with(".h")) continue;
    EXPECT_THAT(read_file(kRoot / file), ::testing::HasSubstr("#pragma once")) << file;
  }
}

TEST(Tree, NoLeftovers) {
  // Spelled in pieces so that this file passes its own rule.
  const std::vector<std::regex> leftovers = {
      std::regex(std::string("TO") + "DO(?! ?\\(?#[0-9])"), std::regex(std::string("FIX") + "ME"),
      std::regex(std::string("for ") + "now\\b"), std::regex(std::string("/wo") + "rk/|/far" + "m/|/ro" + "ot/")};
  for (const std::string& file : tracked_files()) {
    if (!is_cpp(file) && !file.ends_with(".py") && !file.ends_with(".sh") && !file.ends_with(".md") &&
        !file.ends_with(".txt"))
      continue;
    if (file == "tests/tree/tree_test.cpp") continue;
    std::istringstream lines(read_file(kRoot / file));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      for (const std::regex& leftover : leftovers)
        EXPECT_FALSE(std::regex_search(line, leftover)) << file << ":" << number << ": " << line;
    }
  }
}

TEST(Tree, ReadmeNamesOnlyFilesThatExist) {
  const std::string readme = read_file(kRoot / "README.md");
  ASSERT_FALSE(readme.empty());
  const std::regex path(R"re(`((?:harness|generators|oracles|corpus|tests|bench)/[A-Za-z0-9_./-]*)`)re");
  for (std::sregex_iterator it(readme.begin(), readme.end(), path), end; it != end; ++it)
    EXPECT_TRUE(fs::exists(kRoot / (*it)[1].str())) << "README names " << (*it)[1];
}

}  // namespace
}  // namespace aotifuzz
