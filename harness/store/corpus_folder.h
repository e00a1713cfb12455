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
/// their paths. The expectation is finding.json or expect.json beside a case.txt. Throws HarnessError that names the
/// file and what is wrong with it.
std::vector<CorpusEntry> read_corpus(const std::string& path);

/// The package that an entry is to be run on: `package` where given, else the finding's own, else the model recipe in
/// `models` (a folder of RECIPE.pt2). Throws HarnessError that says what to give.
std::string package_of(const CorpusEntry& entry, const std::string& package, const std::string& models);

}  // namespace aotifuzz
