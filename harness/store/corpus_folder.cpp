#include "store/corpus_folder.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "store/atomic_file.h"
#include "store/case_files.h"
#include "store/case_text.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;

Case read_case(const std::string& text, const std::string& where) {
  auto parsed = parse_case(text);
  if (!parsed)
    throw HarnessError("the case cannot be read: " + parsed.error().what, where + ", " + parsed.error().where,
                       "correct the text; store/case_text.h has the format");
  load_case_files(*parsed, fs::path(where).parent_path().string());
  return std::move(*parsed);
}

}  // namespace

std::vector<std::string> find_cases(const std::string& path) {
  if (!fs::exists(path))
    throw HarnessError("no such case or folder", path, "give a case text, a finding's folder, or a folder of those");
  std::vector<std::string> files;
  if (!fs::is_directory(path)) {
    files.emplace_back(path);
  } else if (fs::exists(fs::path(path) / "case.txt")) {
    files.push_back((fs::path(path) / "case.txt").string());
  } else {
    std::error_code error;
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      if (it->path().filename().string().starts_with(kUnfinished)) it.disable_recursion_pending();
      if (it->path().filename() == "case.txt") files.push_back(it->path().string());
    }
    if (error) throw HarnessError("cannot list a folder: " + error.message(), path, "check that you may read it");
    std::sort(files.begin(), files.end());
  }
  if (files.empty())
    throw HarnessError("no case.txt in this folder or below it", path,
                       "give a case text, a finding's folder, or a folder of those");
  return files;
}

CorpusEntry read_entry(const std::string& case_path) {
  const fs::path file = case_path;
  CorpusEntry entry;
  entry.path = file.string();
  // A finding's folder holds its case and the original of it; what is expected stands beside both.
  const bool in_folder = file.filename() == "case.txt" || file.filename() == "original.txt";
  entry.name =
      file.filename() == "case.txt" ? fs::absolute(file).parent_path().filename().string() : file.filename().string();
  entry.input = read_case(read_file(entry.path), entry.path);
  if (!in_folder) return entry;
  for (const char* name : {"finding.json", "expect.json"}) {
    const fs::path beside = file.parent_path() / name;
    if (!fs::exists(beside)) continue;
    auto expectation = parse_expectation(read_file(beside.string()));
    if (!expectation)
      throw HarnessError("the expectation cannot be read: " + expectation.error().what,
                         beside.string() + ", " + expectation.error().where, "give it a signature and a class");
    entry.expectation = std::move(*expectation);
    for (const std::string& text : entry.expectation->before) entry.before.push_back(read_case(text, beside.string()));
    break;
  }
  return entry;
}

std::string package_of(const CorpusEntry& entry, const std::string& package, const std::string& models) {
  if (!package.empty()) return package;
  if (entry.expectation && !entry.expectation->package.empty()) return entry.expectation->package;
  if (entry.expectation && !entry.expectation->recipe.empty()) {
    if (models.empty())
      throw HarnessError("the case names a model recipe, and no folder of packed models is known",
                         entry.path + ": " + entry.expectation->recipe, "give --models or set AOTIFUZZ_MODELS");
    const std::string path = models + "/" + entry.expectation->recipe + ".pt2";
    if (!fs::exists(path))
      throw HarnessError("the model of the case is not packed", path,
                         "pack it with `python -m aotifuzz_pack FILE.py:FUNCTION -o " + path + "`");
    return path;
  }
  throw HarnessError("nothing says which package the case is for", entry.path, "give --package");
}

}  // namespace aotifuzz
