#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "campaign/torch_builds.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// Where a model recipe ("faults.f197829_shift_in_place") can be packed from.
struct RecipeSource {
  std::string file;      ///< "corpus/models/faults.py"
  std::string function;  ///< "f197829_shift_in_place"

  std::string name() const;  ///< of the packed file, without .pt2: "faults.f197829_shift_in_place"
  std::string key() const { return file + ":" + function; }
};

/// The recipe of an entry: its expectation's, looked for as models/FILE.py beside the case and in the folders above it;
/// or the text that the entry's package carries (aotifuzz_pack keeps it), written to a file in `scratch`. Throws
/// HarnessError that says what is missing.
RecipeSource recipe_of(const CorpusEntry& entry, const std::string& scratch);

/// What packing came to.
struct PackedRecipe {
  std::string path;          ///< of the package; "" = there is none
  std::string why_not;       ///< one line
  bool by_compiler = false;  ///< torch did not get through; else the recipe, this machine or a person is the reason
};

/// Packs recipes with the torch of one build below `folder`, through pack's cache; its progress goes to stderr. By key,
/// one for each of `recipes`: whatever one does, the others are packed, and none takes longer than `limit` (0: none).
/// Throws HarnessError when the build has no Python or that does not start.
std::map<std::string, PackedRecipe> pack_recipes(const TorchBuild& build, const std::vector<RecipeSource>& recipes,
                                                 const std::string& folder, std::chrono::seconds limit);

}  // namespace aotifuzz
