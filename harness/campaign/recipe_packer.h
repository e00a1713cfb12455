#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "campaign/torch_builds.h"
#include "store/corpus_folder.h"

namespace aotifuzz {

/// Where a model recipe ("faults.f197829_shift_in_place") can be packed from.
struct RecipeSource {
  std::string file;      ///< "corpus/models/faults.py"
  std::string function;  ///< "f197829_shift_in_place"
};

/// The recipe of an entry: its expectation's, looked for as models/FILE.py beside the case and in the folders above it;
/// or the text that the entry's package carries (aotifuzz_pack keeps it), written to a file in `scratch`. `name` gets
/// what the packed file will be called, without .pt2. Throws HarnessError that says what is missing.
RecipeSource recipe_of(const CorpusEntry& entry, const std::string& scratch, std::string* name);

/// What packing came to.
struct PackedRecipe {
  std::string path;     ///< of the package; "" = it could not be compiled
  std::string why_not;  ///< what the compiler said, one line
};

/// Packs recipes with the torch of one build into `folder`, through pack's cache; its progress goes to stderr. By name,
/// one for each of `recipes`. A recipe that cannot be compiled is an answer; throws HarnessError when the build has no
/// Python or pack itself does not run.
std::map<std::string, PackedRecipe> pack_recipes(const TorchBuild& build,
                                                 const std::map<std::string, RecipeSource>& recipes,
                                                 const std::string& folder);

}  // namespace aotifuzz
