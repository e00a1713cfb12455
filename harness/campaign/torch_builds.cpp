#include "campaign/torch_builds.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "core/error.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHowToBuild = "build one for it with `AOTIFUZZ_TORCH={} bash harness/setup.sh`";

std::string how_to_build(const std::string& version) {
  std::string out = kHowToBuild;
  return out.replace(out.find("{}"), 2, version);
}

std::optional<TorchBuild> read_build(const fs::path& folder, std::vector<std::string>* problems) {
  const fs::path file = folder / kTorchBuildFile;
  std::ifstream in(file);
  if (!in) return std::nullopt;
  std::stringstream text;
  text << in.rdbuf();
  const auto root = nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  TorchBuild build;
  const auto member = [&](const char* name) {
    return root.is_object() && root.contains(name) && root[name].is_string() ? root[name].get<std::string>()
                                                                             : std::string();
  };
  build.full_version = member("torch");
  build.folder = folder.string();
  build.python = member("python");
  build.libraries = member("libraries");
  build.pack = member("pack");
  const auto version = parse_torch_version(build.full_version);
  if (!version) {
    if (problems) problems->push_back(file.string() + " does not say which torch was built for: build there again");
    return std::nullopt;
  }
  build.version = *version;
  // Configured is not built.
  if (::access((folder / "aotifuzz-worker").c_str(), X_OK) != 0) return std::nullopt;
  return build;
}

std::string versions_of(const std::vector<TorchBuild>& builds) {
  std::string out;
  for (const TorchBuild& build : builds) out += (out.empty() ? "" : ", ") + build.version.text();
  return out.empty() ? "none" : out;
}

const TorchBuild& requested_build(const std::vector<TorchBuild>& builds, const std::string& requested) {
  const auto version = parse_torch_version(requested);
  if (!version)
    throw UsageError("not a version of torch", "--torch " + requested, "give one of these: " + versions_of(builds));
  const TorchBuild* found = nullptr;
  for (const TorchBuild& build : builds)
    if (is_version(build.version, requested) && (!found || build.version > found->version)) found = &build;
  if (!found)
    throw HarnessError("there is no worker for torch " + requested + " here",
                       "--torch " + requested + "; there are workers for: " + versions_of(builds),
                       how_to_build(version->text()));
  return *found;
}

/// What is left when the package's own torch is not here.
const TorchBuild& nearest_build(const std::vector<TorchBuild>& builds, const TorchVersion& version) {
  const TorchBuild* newer = nullptr;
  const TorchBuild* older = nullptr;
  for (const TorchBuild& build : builds)
    if (build.version > version) {
      if (!newer || build.version < newer->version) newer = &build;
    } else if (!older || build.version > older->version) {
      older = &build;
    }
  return newer ? *newer : *older;
}

}  // namespace

std::vector<TorchBuild> torch_builds(const std::string& folder, std::vector<std::string>* problems) {
  const fs::path own = fs::path(folder).lexically_normal();
  const auto is_build_name = [](const fs::path& path) { return path.filename().string().starts_with("torch-"); };
  std::vector<fs::path> others;
  const auto add_below = [&](const fs::path& parent) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error))
      if (is_build_name(it->path()) && it->path() != own) others.push_back(it->path());
  };
  add_below(own);
  if (is_build_name(own)) {
    others.push_back(own.parent_path());
    add_below(own.parent_path());
  }
  std::vector<TorchBuild> builds;
  for (const fs::path& path : others)
    if (auto build = read_build(path, problems)) builds.push_back(std::move(*build));
  std::sort(builds.begin(), builds.end(), [](const TorchBuild& a, const TorchBuild& b) {
    return a.version != b.version ? a.version > b.version : a.folder < b.folder;
  });
  if (auto build = read_build(own, problems)) builds.insert(builds.begin(), std::move(*build));
  return builds;
}

std::vector<TorchBuild> installed_torch_builds(std::vector<std::string>* problems) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return torch_builds(self.parent_path().string(), problems);
}

bool is_version(const TorchVersion& version, const std::string& requested) {
  const auto wanted = parse_torch_version(requested);
  if (!wanted) return false;
  const bool with_patch = std::count(requested.begin(), requested.end(), '.') >= 2;
  return with_patch ? version == *wanted : version.major == wanted->major && version.minor == wanted->minor;
}

TorchChoice choose_torch(const std::vector<TorchBuild>& builds, const std::string& package_torch,
                         const std::string& requested, const std::string& known_as) {
  const auto compiled_by = parse_torch_version(package_torch);
  const auto with_note = [&](const TorchBuild& build, const std::string& why) {
    TorchChoice choice{build, ""};
    if (compiled_by && build.version != *compiled_by)
      choice.note = known_as + " torch " + compiled_by->text() + " and runs with torch " + build.version.text() +
                    (why.empty() ? "" : ": " + why);
    return choice;
  };
  if (!requested.empty()) return with_note(requested_build(builds, requested), "as --torch asks");
  if (builds.empty())
    throw HarnessError("there is no worker for any torch",
                       std::string("no ") + kTorchBuildFile + " with an aotifuzz-worker beside this program",
                       "build the project with `bash harness/setup.sh`");
  if (!compiled_by) return {builds.front(), ""};
  for (const TorchBuild& build : builds)
    if (build.version == *compiled_by) return {build, ""};
  return with_note(nearest_build(builds, *compiled_by), how_to_build(compiled_by->text()));
}

void require_matching_libraries(const TorchBuild& build) {
  const char* given = std::getenv("AOTIFUZZ_TORCH_LIB");
  // A build's own worker finds its torch whatever the variable says; one of a bundle has nothing else.
  if (!given || !*given || !build.libraries.empty()) return;
  if (!fs::is_directory(given))
    throw HarnessError("AOTIFUZZ_TORCH_LIB names no folder", given,
                       "give the folder lib of torch " + build.version.text());
  std::ifstream in(fs::path(given) / ".." / "version.py");
  std::string line;
  while (std::getline(in, line)) {
    const size_t quote = line.find('\'');
    if (!line.starts_with("__version__") || quote == line.npos) continue;
    const std::string text = line.substr(quote + 1, line.find('\'', quote + 1) - quote - 1);
    const auto version = parse_torch_version(text);
    if (version && *version != build.version)
      throw HarnessError("AOTIFUZZ_TORCH_LIB names torch " + version->text() + ", and the worker was built against " +
                             build.version.text() + ": libtorch's interface for C++ differs between versions",
                         given,
                         "give the libraries of torch " + build.version.text() + ", or take the bundle built against " +
                             version->text());
    return;
  }
}

}  // namespace aotifuzz
