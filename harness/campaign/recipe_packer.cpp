#include "campaign/recipe_packer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "package/package_info.h"
#include "store/atomic_file.h"

extern char** environ;

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFailures = "failures.json";

/// The environment with PYTHONPATH set and the system's compiler chosen: another g++ in PATH may make packages that its
/// own runtime libraries are needed for.
std::vector<std::string> environment_for(const TorchBuild& build) {
  std::vector<std::string> out;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("PYTHONPATH=") && !text.starts_with("CC=") && !text.starts_with("CXX="))
      out.emplace_back(text);
  }
  out.push_back("PYTHONPATH=" + build.pack);
  if (::access("/usr/bin/g++", X_OK) == 0) {
    out.emplace_back("CC=/usr/bin/gcc");
    out.emplace_back("CXX=/usr/bin/g++");
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

/// Exit status as waitpid gives it. The program's stdout goes to our stderr.
int run_to_stderr(std::vector<std::string> words, std::vector<std::string> environment) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = -1;
  const int failed =
      posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    throw HarnessError("the build's Python cannot be started: " + std::string(std::strerror(failed)), words[0],
                       "set up that torch again with `bash harness/setup.sh`");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::map<std::string, std::string> read_failures(const std::string& path) {
  std::map<std::string, std::string> out;
  if (!fs::exists(path)) return out;
  const auto root = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return out;
  for (const auto& [name, why] : root.items())
    if (why.is_string()) out[name] = why.get<std::string>();
  return out;
}

/// One process for all of `recipes`, in their order. Its exit status as waitpid gives it.
int pack_once(const TorchBuild& build, const std::map<std::string, RecipeSource>& recipes, const std::string& folder) {
  const std::string failures = folder + "/" + kFailures;
  fs::remove(failures);
  std::vector<std::string> words = {build.python, "-m", "aotifuzz_pack"};
  for (const auto& [name, source] : recipes) words.push_back(source.file + ":" + source.function);
  for (const std::string& word : {std::string("-o"), folder, std::string("--failures"), failures})
    words.push_back(word);
  return run_to_stderr(std::move(words), environment_for(build));
}

}  // namespace

RecipeSource recipe_of(const CorpusEntry& entry, const std::string& scratch, std::string* name) {
  if (entry.expectation && !entry.expectation->recipe.empty()) {
    const std::string& recipe = entry.expectation->recipe;
    const size_t dot = recipe.find('.');
    const std::string file = "models/" + recipe.substr(0, dot) + ".py";
    for (fs::path folder = fs::absolute(entry.path).parent_path(); dot != recipe.npos; folder = folder.parent_path()) {
      if (fs::is_regular_file(folder / file)) {
        *name = recipe;
        return {(folder / file).string(), recipe.substr(dot + 1)};
      }
      if (folder == folder.parent_path()) break;
    }
    throw HarnessError(
        "the source of the model recipe " + recipe + " was not found", entry.path,
        "put " + file + " beside the corpus, or give a package for each version: --package VERSION=FILE");
  }
  if (entry.expectation && !entry.expectation->package.empty()) {
    PackageRequest request;
    request.path = entry.expectation->package;
    request.model = entry.expectation->model;
    const PackageInfo info = read_package(request);
    if (info.pack && !info.pack->recipe_source.empty() && !info.pack->recipe_function.empty()) {
      const std::string stem = "recipe_" + std::to_string(std::hash<std::string>()(info.pack->recipe_source));
      const std::string file = scratch + "/" + stem + ".py";
      write_file_whole(file, info.pack->recipe_source);
      *name = stem + "." + info.pack->recipe_function;
      return {file, info.pack->recipe_function};
    }
    throw HarnessError("the package does not say which model it was packed from", entry.expectation->package,
                       "give a package for each version: --package VERSION=FILE");
  }
  throw HarnessError("nothing says which model the case is for", entry.path,
                     "give a package for each version: --package VERSION=FILE");
}

std::map<std::string, PackedRecipe> pack_recipes(const TorchBuild& build,
                                                 const std::map<std::string, RecipeSource>& recipes,
                                                 const std::string& folder) {
  if (recipes.empty()) return {};
  if (build.python.empty() || build.pack.empty())
    throw HarnessError("the worker for torch " + build.version.text() + " comes without Python: it cannot pack models",
                       build.folder, "give a package for each version: --package VERSION=FILE");
  make_folder(folder);
  std::map<std::string, PackedRecipe> out;
  // A compiler that dies takes the process along: what it was at is the answer for that recipe, and the others go on.
  while (out.size() < recipes.size()) {
    std::map<std::string, RecipeSource> left;
    for (const auto& [name, source] : recipes)
      if (!out.contains(name)) left[name] = source;
    const int status = pack_once(build, left, folder);
    const std::map<std::string, std::string> why = read_failures(folder + "/" + kFailures);
    for (const auto& [name, source] : left) {
      const std::string path = folder + "/" + name + ".pt2";
      if (const auto found = why.find(name); found != why.end()) {
        out[name] = {"", found->second};
      } else if (fs::exists(path)) {
        out[name] = {path, ""};
      } else if (WIFSIGNALED(status)) {
        out[name] = {"", "the compiler ended with signal " + std::to_string(WTERMSIG(status))};
        break;
      } else {
        throw HarnessError("packing with torch " + build.version.text() + " ended before " + name + " was packed",
                           source.file, "read what it printed above");
      }
    }
  }
  return out;
}

}  // namespace aotifuzz
