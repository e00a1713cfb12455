#pragma once

#include <string>

#include "core/finding.h"
#include "store/finding_file.h"

namespace aotifuzz {

/// A Python program that needs only torch: makes the minimal inputs, runs eager and the package, prints where they
/// differ and ends with 1 when they do. With the model's source (pack record) it exports and compiles the model itself;
/// without, it loads the package and, where there is one, the reference beside it.
std::string print_python_reproducer(const Finding& finding, const FindingContext& context);

}  // namespace aotifuzz
