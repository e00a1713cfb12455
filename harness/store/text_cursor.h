#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/value_recipe.h"

namespace aotifuzz {

/// Reads one line of case text from left to right. Every call skips blanks first; a call that does not find what it
/// wants leaves the cursor where it was (after the blanks). Never throws; independent of the locale.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  bool at_end();
  bool next_is(char c);
  bool accept(char c);
  /// Letters, digits, '_' and '-': keywords, dtypes and options. "" when there is none.
  std::string_view word();
  bool accept_word(std::string_view wanted);
  /// As word(), but a name: starts with a letter or '_', no '-'.
  std::string_view identifier();

  /// "..." in double quotes, %XX standing for the byte XX; nullopt also for one that is empty or holds a NUL.
  std::optional<std::string> quoted();

  std::optional<int64_t> integer();
  std::optional<uint64_t> unsigned_integer();
  /// Integers stay integers; what has a '.', an exponent, or is inf or nan becomes a double.
  std::optional<Number> number();

  /// What is left, cut to a length fit for a message.
  std::string rest_for_message();

 private:
  void skip_blanks();
  std::string_view text_;
};

/// The text that TextCursor::quoted() reads back: what could end a line, a comment or the quotes is written as %XX.
std::string in_quotes(std::string_view text);

}  // namespace aotifuzz
