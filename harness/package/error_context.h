#pragma once

#include <string>
#include <vector>

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

/// Operators of the program that are not torch's own, by name: "my.halve.default". Empty without a program.
std::vector<std::string> foreign_operators(const PackageInfo& package);

/// Was it compiled without its weights? Whoever calls it must give them first.
bool weights_left_out(const PackageInfo& package);

/// Both as notes for people, one sentence each.
std::vector<std::string> package_hazards(const PackageInfo& package);

}  // namespace aotifuzz
