#include "store/text_cursor.h"

#include <charconv>
#include <limits>

namespace aotifuzz {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class T>
std::optional<T> whole_integer(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Longest prefix that looks like a number: sign, digits, letters of inf, nan and exponents, '.'.
std::string_view number_token(std::string_view text) {
  size_t n = 0;
  while (n < text.size()) {
    const char c = text[n];
    const bool sign = (c == '-' || c == '+') && (n == 0 || text[n - 1] == 'e' || text[n - 1] == 'E');
    if (!sign && !is_letter(c) && !is_digit(c) && c != '.') break;
    ++n;
  }
  return text.substr(0, n);
}

std::optional<double> whole_double(std::string_view token) {
  if (token == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (token == "inf") return std::numeric_limits<double>::infinity();
  if (token == "-inf") return -std::numeric_limits<double>::infinity();
  for (char c : token)  // from_chars also takes "infinity", "nan(...)" in any case: one spelling is enough
    if (is_letter(c) && c != 'e' && c != 'E') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (end != token.data() + token.size()) return std::nullopt;
  if (error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace

void TextCursor::skip_blanks() {
  size_t n = 0;
  while (n < text_.size() && (text_[n] == ' ' || text_[n] == '\t' || text_[n] == '\r')) ++n;
  text_.remove_prefix(n);
}

bool TextCursor::at_end() {
  skip_blanks();
  return text_.empty();
}

bool TextCursor::next_is(char c) {
  skip_blanks();
  return !text_.empty() && text_.front() == c;
}

bool TextCursor::accept(char c) {
  if (!next_is(c)) return false;
  text_.remove_prefix(1);
  return true;
}

std::string_view TextCursor::word() {
  skip_blanks();
  size_t n = 0;
  while (n < text_.size() && (is_letter(text_[n]) || is_digit(text_[n]) || text_[n] == '-')) ++n;
  const std::string_view found = text_.substr(0, n);
  text_.remove_prefix(n);
  return found;
}

bool TextCursor::accept_word(std::string_view wanted) {
  const std::string_view before = text_;
  if (word() == wanted) return true;
  text_ = before;
  return false;
}

std::string_view TextCursor::identifier() {
  skip_blanks();
  size_t n = 0;
  while (n < text_.size() && (is_letter(text_[n]) || (n > 0 && is_digit(text_[n])))) ++n;
  const std::string_view found = text_.substr(0, n);
  text_.remove_prefix(n);
  return found;
}

std::optional<std::string> TextCursor::quoted() {
  skip_blanks();
  if (text_.empty() || text_.front() != '"') return std::nullopt;
  const size_t end = text_.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::string out;
  for (std::string_view rest = text_.substr(1, end - 1); !rest.empty();) {
    const size_t taken = rest.front() == '%' ? 3 : 1;
    int byte = static_cast<unsigned char>(rest.front());
    if (taken == 3) {
      if (rest.size() < 3) return std::nullopt;
      const auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16);
      if (error != std::errc{} || stop != rest.data() + 3) return std::nullopt;
    }
    if (byte <= 0) return std::nullopt;
    out += static_cast<char>(byte);
    rest.remove_prefix(taken);
  }
  if (out.empty()) return std::nullopt;
  text_.remove_prefix(end + 1);
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && c != '"' && c != '#' && c != '%' && byte != 0x7f) {
      out += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out + "\"";
}

std::optional<int64_t> TextCursor::integer() {
  skip_blanks();
  const std::string_view token = number_token(text_);
  const std::optional<int64_t> value = whole_integer<int64_t>(token);
  if (value) text_.remove_prefix(token.size());
  return value;
}

std::optional<uint64_t> TextCursor::unsigned_integer() {
  skip_blanks();
  const std::string_view token = number_token(text_);
  const std::optional<uint64_t> value = whole_integer<uint64_t>(token);
  if (value) text_.remove_prefix(token.size());
  return value;
}

std::optional<Number> TextCursor::number() {
  skip_blanks();
  const std::string_view token = number_token(text_);
  if (const std::optional<int64_t> value = whole_integer<int64_t>(token)) {
    text_.remove_prefix(token.size());
    return Number{*value};
  }
  // An integer that does not fit is a typing error, not a double that looks like it.
  if (token.find_first_of(".enf") == std::string_view::npos) return std::nullopt;
  const std::optional<double> value = whole_double(token);
  if (!value) return std::nullopt;
  text_.remove_prefix(token.size());
  return Number{*value};
}

std::string TextCursor::rest_for_message() {
  skip_blanks();
  constexpr size_t kLengthMax = 40;
  std::string shown(text_.substr(0, kLengthMax));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  return text_.size() > kLengthMax ? shown + "..." : shown;
}

}  // namespace aotifuzz
