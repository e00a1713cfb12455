#pragma once

#include <cstdint>
#include <vector>

#include "core/case.h"

namespace aotifuzz {

/// What makes a case harder to read, most important first: sizes, layout, values, options. Compared lexicographically.
/// The reducer only ever goes down in this order, which is why it ends.
std::vector<int64_t> case_complexity(const Case& c);

}  // namespace aotifuzz
