#pragma once

#include <string>
#include <vector>

namespace aotifuzz {

/// One error that a log speaks of, and what `aotifuzz explain` says of it. Plain text throughout.
struct Explanation {
  std::string pattern;  ///< id of the row that recognised it: "index-out-of-bounds"
  std::string title;
  size_t line = 0;    ///< of the log, from 1; 0 = it was not in a log
  size_t times = 1;   ///< lines that say the same
  size_t others = 0;  ///< lines of this kind with other names or numbers, not listed
  std::string text;   ///< the first of them
  std::string meaning, culprit, change;
  /// What is known of it in the package at hand: name, value. Empty without a package.
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::string> commands;  ///< to run next, complete shell lines
};

/// A step of the debugging guide that was done on package and case, and what came of it.
struct GuideStep {
  std::string name, result;
  bool done = true;  ///< false: it was left out, and `result` says why
};

/// Everything that `aotifuzz explain` says.
struct ExplainReport {
  std::vector<Explanation> found;
  std::vector<GuideStep> steps;         ///< empty: no case to run them on
  std::vector<std::string> conclusion;  ///< culprit and what to change, of what the steps saw
  std::string minimal_case;             ///< case text of the smallest input that does it; "" = not looked for
  std::vector<std::string> notes;
  bool fault = false;  ///< the steps saw the package fail on an input that it must accept
};

}  // namespace aotifuzz
