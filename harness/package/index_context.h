#pragma once

#include "core/explanation.h"
#include "package/error_recogniser.h"
#include "package/package_info.h"

namespace aotifuzz {

/// Adds to `explanation` what the package tells of an index assertion "0 <= {index} < {bound}": kernel and line, the
/// load or store that it guards, what index and bound are in terms of inputs, who computed the index. Replaces culprit
/// and change where one kernel, called once, has that check. Needs `package.compiled`; never throws.
void add_index_facts(const PackageInfo& package, const RecognisedError& error, Explanation* explanation);

}  // namespace aotifuzz
