#pragma once

#include <stdexcept>
#include <string>
#include <tl/expected.hpp>

namespace aotifuzz {

/// What went wrong with untrusted text (archive, JSON, case text, protocol). Malformed input is normal, so parsers return
/// it as a value and never throw.
struct ParseError {
  std::string what;   ///< one sentence: what is wrong
  std::string where;  ///< member, line or field
};

template <class T>
using Result = tl::expected<T, ParseError>;

inline tl::unexpected<ParseError> parse_error(std::string what, std::string where) {
  return tl::unexpected<ParseError>(ParseError{std::move(what), std::move(where)});
}

/// The world is wrong and the user can change it: missing file, bad flag, malformed case. Ends the program with exit code
/// 3 (or 2 for usage) and a message of three parts. Never thrown for what a package does.
class HarnessError : public std::runtime_error {
 public:
  HarnessError(std::string what, std::string where, std::string fix)
      : std::runtime_error(what + "\n  where: " + where + "\n  to do: " + fix) {}
};

/// A wrong command line: as HarnessError, exit code 2.
class UsageError : public HarnessError {
 public:
  using HarnessError::HarnessError;
};

enum ExitCode { kExitNoFaults = 0, kExitFaults = 1, kExitUsage = 2, kExitWorld = 3, kExitInternal = 4 };

}  // namespace aotifuzz
