#pragma once

#include <string>

#include "core/explanation.h"
#include "package/error_recogniser.h"
#include "package/package_info.h"

namespace aotifuzz {

/// What to put in place of PACKAGE and CASE in commands; "" = leave the word.
struct ExplainPaths {
  std::string package, input;
};

/// What the table says of an error, its commands completed.
Explanation explain_error(const RecognisedError& error, const ExplainPaths& paths);

/// Adds what `package` tells of `error`: kernel and line of an index check and what index and bound are; name,
/// dimension and declared range of a refused input; devices, architecture, operators, constants. Replaces culprit and
/// change where more is known. Runs nothing; never throws.
void add_package_facts(const PackageInfo& package, const RecognisedError& error, Explanation* explanation);

/// What holds of the package whatever the error is: that its weights are not inside, that it calls operators which are
/// not torch's own. One sentence each.
std::vector<std::string> package_hazards(const PackageInfo& package);

}  // namespace aotifuzz
