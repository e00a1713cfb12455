#include "campaign/recipe_packer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
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
  const char* own = std::getenv("PYTHONPATH");
  out.push_back("PYTHONPATH=" + build.pack + (own && *own ? std::string(":") + own : ""));
  out.emplace_back("PYTHONSAFEPATH=1");  // a folder "torch" where the user happens to be is not torch
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

/// Exit status as waitpid gives it. The program's stdout goes to our stderr, and it ends with us.
int run_to_stderr(std::vector<std::string> words, std::vector<std::string> environment) {
  const std::vector<char*> arguments = pointers(words), variables = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Only async-signal-safe calls between fork and exec.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(126);
    if (const int null = ::open("/dev/null", O_RDONLY); null >= 0) ::dup2(null, STDIN_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) >= 126))
    throw HarnessError("the build's Python cannot be started", words[0],
                       "set up that torch again with `bash harness/setup.sh`");
  return status;
}

std::map<std::string, PackedRecipe> read_failures(const std::string& path) {
  std::map<std::string, PackedRecipe> out;
  if (!fs::exists(path)) return out;
  const auto root = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return out;
  for (const auto& [name, failure] : root.items()) {
    if (!failure.is_object() || !failure.contains("what") || !failure["what"].is_string()) continue;
    out[name].why_not = failure["what"].get<std::string>();
    out[name].by_compiler = failure.contains("compiler") && failure["compiler"] == true;
  }
  return out;
}

bool is_identifier(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// Of a compiler that died of itself; others were ended, by the system or by a person.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGFPE || signal == SIGILL || signal == SIGBUS;
}

/// One process for all of `recipes`, which lie in one folder, in their order. Its exit status as waitpid gives it.
int pack_once(const TorchBuild& build, const std::vector<RecipeSource>& recipes, const std::string& folder,
              std::chrono::seconds limit) {
  const std::string failures = folder + "/" + kFailures;
  fs::remove(failures);
  std::vector<std::string> words = {build.python, "-m", "aotifuzz_pack"};
  for (const RecipeSource& source : recipes) words.push_back(source.file + ":" + source.function);
  for (const std::string& word : {std::string("-o"), folder, std::string("--failures"), failures,
                                  std::string("--limit"), std::to_string(limit.count())})
    words.push_back(word);
  return run_to_stderr(std::move(words), environment_for(build));
}

/// Whatever one recipe does to the process, the others get their turn: each round settles one at least.
void pack_folder(const TorchBuild& build, std::vector<RecipeSource> left, const std::string& folder,
                 std::chrono::seconds limit, std::map<std::string, PackedRecipe>* out) {
  make_folder(folder);
  while (!left.empty()) {
    const int status = pack_once(build, left, folder, limit);
    const std::map<std::string, PackedRecipe> failed = read_failures(folder + "/" + kFailures);
    std::vector<RecipeSource> next;
    bool blamed = false;
    for (const RecipeSource& source : left) {
      const std::string path = folder + "/" + source.name() + ".pt2";
      if (const auto found = failed.find(source.name()); found != failed.end()) {
        (*out)[source.key()] = found->second;
      } else if (fs::exists(path)) {
        (*out)[source.key()] = {path, "", false};
      } else if (blamed) {
        next.push_back(source);
      } else {
        // What it was at when it ended.
        blamed = true;
        const bool crash = WIFSIGNALED(status) && is_crash(WTERMSIG(status));
        (*out)[source.key()] = {"",
                                WIFSIGNALED(status) ? "packing ended with signal " + std::to_string(WTERMSIG(status))
                                                    : "packing ended before it was packed: see what it printed",
                                crash};
      }
    }
    left = std::move(next);
  }
}

}  // namespace

std::string RecipeSource::name() const { return fs::path(file).stem().string() + "." + function; }

RecipeSource recipe_of(const CorpusEntry& entry, const std::string& scratch) {
  constexpr const char* kToDo = "give a package for each version: --package VERSION=FILE";
  if (entry.expectation && !entry.expectation->recipe.empty()) {
    const std::string& recipe = entry.expectation->recipe;
    const size_t dot = std::min(recipe.find('.'), recipe.size());
    const std::string stem = recipe.substr(0, dot), function = recipe.substr(std::min(dot + 1, recipe.size()));
    if (!is_identifier(stem) || !is_identifier(function))
      throw HarnessError("not the name of a model recipe: \"" + recipe + "\"", entry.path,
                         "name it FILE.FUNCTION, as in faults.f197829_shift_in_place");
    const std::string file = "models/" + stem + ".py";
    for (fs::path folder = fs::absolute(entry.path).parent_path();; folder = folder.parent_path()) {
      if (fs::is_regular_file(folder / file)) return {(folder / file).string(), function};
      if (folder == folder.parent_path()) break;
    }
    throw HarnessError("the source of the model recipe " + recipe + " was not found", entry.path,
                       "put " + file + " beside the corpus, or " + kToDo);
  }
  if (entry.expectation && !entry.expectation->package.empty()) {
    PackageRequest request;
    request.path = entry.expectation->package;
    request.model = entry.expectation->model;
    const PackageInfo info = read_package(request);
    if (!info.pack || info.pack->recipe_source.empty() || !is_identifier(info.pack->recipe_function))
      throw HarnessError("the package does not say which model it was packed from", entry.expectation->package, kToDo);
    const std::string file =
        scratch + "/recipe_" + std::to_string(std::hash<std::string>()(info.pack->recipe_source)) + ".py";
    write_file_whole(file, info.pack->recipe_source);
    return {file, info.pack->recipe_function};
  }
  throw HarnessError("nothing says which model the case is for", entry.path, kToDo);
}

std::map<std::string, PackedRecipe> pack_recipes(const TorchBuild& build, const std::vector<RecipeSource>& recipes,
                                                 const std::string& folder, std::chrono::seconds limit) {
  if (recipes.empty()) return {};
  if (build.python.empty() || build.pack.empty())
    throw HarnessError("the worker for torch " + build.version.text() + " comes without Python: it cannot pack models",
                       build.folder, "give a package for each version: --package VERSION=FILE");
  // Packages are named after file and function: what lies in different folders may have the same names.
  std::map<std::string, std::vector<RecipeSource>> by_folder;
  for (const RecipeSource& source : recipes) by_folder[fs::path(source.file).parent_path().string()].push_back(source);
  std::map<std::string, PackedRecipe> out;
  for (const auto& [sources, own] : by_folder)
    pack_folder(build, own, folder + "/" + std::to_string(std::distance(by_folder.begin(), by_folder.find(sources))),
                limit, &out);
  return out;
}

}  // namespace aotifuzz
