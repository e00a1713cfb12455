#pragma once

#include <string>
#include <vector>

#include "core/case.h"
#include "core/verdict.h"

namespace aotifuzz {

/// What a case must be run with.
struct SavedCaseContext {
  std::string package, model, reference;
  std::vector<std::string> ops;
};

/// Writes a case of real inputs with the files of its values beside it: to `path` where that ends with ".txt", else to
/// the folder `path` as case.txt. A folder gets an expect.json with what was found and on which package, so that replay
/// and minimize need nothing else. `leading`: the failure that the case is kept for; null = none. Returns the command
/// that replays it. Throws HarnessError, also when a case of other inputs is there already.
std::string write_saved_case(const std::string& path, const Case& c, const Verdict* leading,
                             const SavedCaseContext& context);

}  // namespace aotifuzz
