#pragma once

#include <string_view>
#include <vector>

namespace aotifuzz {

/// What `explain` can tie a recognised error to when it is given the package.
enum class ErrorRoute {
  kNone,
  kIndex,         ///< the generated line with the assertion, and what its index and bound are
  kInput,         ///< an input, its dimension and what the contract says of it
  kLayout,        ///< as kInput, from a check that does not name the input
  kDevice,        ///< the device that the package was compiled for
  kArchitecture,  ///< the compute capability or instruction set of the package
  kOperator,      ///< an operator that is not torch's own
  kConstants,     ///< the package's constants
  kNan,           ///< the call that makes the named buffer
};

/// One kind of error, as texts of logs tell it.
struct ErrorPattern {
  /// A text that this row must recognise, as some torch printed it, and who saw it there.
  struct Example {
    const char* text;    ///< lines of a log
    const char* source;  ///< "torch 2.15.0, CPU" was seen, "text of" and "form of" were read in the sources, the others
                         ///< are public reports
  };
  const char* id;
  const char* title;
  ErrorRoute route = ErrorRoute::kNone;
  /// Says only that something else failed: left out where another row recognises the cause.
  bool consequence = false;
  /// Any of these in a line, not within longer words and numbers; $ at the end: the line's end. {name#}: an integer, {name~}: a word, {name*}: anything up to what follows it.
  std::vector<const char*> texts;
  /// Must come within the next lines; "" = nothing must.
  const char* then = "";
  const char* meaning;
  const char* culprit;
  const char* change;
  /// Shell lines. PACKAGE and CASE stand for the paths that are given.
  std::vector<const char*> commands;
  std::vector<Example> examples;
};

/// All of them, the most specific first: a line belongs to the first row that recognises it.
const std::vector<ErrorPattern>& error_patterns();
/// Null when there is none with that id.
const ErrorPattern* find_error_pattern(std::string_view id);

}  // namespace aotifuzz
