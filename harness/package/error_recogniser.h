#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/error_patterns.h"

namespace aotifuzz {

/// What the placeholders of a pattern's text stood for.
using Captures = std::map<std::string, std::string>;

struct RecognisedError {
  const ErrorPattern* pattern = nullptr;
  size_t line = 0;    ///< of the first, from 1
  size_t times = 1;   ///< lines that say the same, the first included
  size_t others = 0;  ///< of the first error of a row: lines of its kind with other captures that are not listed
  std::string text;   ///< the line, without the blanks around it, at most 300 bytes
  Captures captures;
};

/// Where `pattern` (see ErrorPattern::texts) first stands in `line`, or none. Time is linear in the line for each
/// occurrence of the pattern's beginning; any bytes are fine.
std::optional<Captures> match_text(std::string_view pattern, std::string_view line);

/// Every distinct error that a log speaks of, in the order of its lines, up to eight of a row; others are counted.
/// Consequences are left out where the log also tells a cause. Lines are looked at up to their first 4,000 bytes.
std::vector<RecognisedError> recognise_errors(std::string_view log);

}  // namespace aotifuzz
