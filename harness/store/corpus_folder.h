#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "store/finding_file.h"

namespace aotifuzz {

/// A case on disk, and what is expected of it.
struct CorpusEntry {
  std::string path;  ///< of the case text
  std::string name;  ///< folder for case.txt, else the file's name
  Case input;
  std::vector<Case> before;  ///< to run first in the same process
  std::optional<Expectation> expectation;
};

/// What `path` means: a case text; a folder with a case.txt; or a folder tree with such folders in it, in the order of
/// their paths. Paths of the case texts, at least one. Throws HarnessError when there is none.
std::vector<std::string> find_cases(const std::string& path);

/// Reads one of those. The expectation is finding.json or expect.json beside a case.txt. Throws HarnessError that names
/// the file and what is wrong with it.
CorpusEntry read_entry(const std::string& case_path);

/// The package that an entry is to be run on: `package` where given, else the finding's own, else the model recipe in
/// `models` (a folder of RECIPE.pt2). Throws HarnessError that says what to give.
std::string package_of(const CorpusEntry& entry, const std::string& package, const std::string& models);

}  // namespace aotifuzz
