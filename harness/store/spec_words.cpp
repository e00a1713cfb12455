#include "store/spec_words.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace aotifuzz {

bool is_name(std::string_view text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : separator;
    if (i < text.size() && c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{' || c == '(')) ++depth;
    if (!quoted && (c == ']' || c == '}' || c == ')')) --depth;
    if (i == text.size() || (c == separator && depth == 0 && !quoted)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

size_t comment_begin(std::string_view line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return i;
  }
  return line.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool is_sign(char c) { return c == '+' || c == '-' || c == '*'; }

bool multiplies_symbols(std::string_view text) {
  const size_t star = text.find('*');
  return star != std::string_view::npos && !integer_of(trimmed(text.substr(0, star))) && star > 0 &&
         is_name(trimmed(text.substr(0, star)));
}

bool holds_a_name_or_comparison(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '<' || c == '>' || c == '=';
  });
}

bool holds_literals(std::string_view text) {
  for (const std::string_view part : split(text, ',')) {
    const std::string_view item = trimmed(part);
    if (item.starts_with('"') || item == "true" || item == "false" || item == "inf" || item == "-inf" ||
        item == "nan" || item.find('.') != std::string_view::npos)
      return true;
    // 1e-05
    if (item.find('e') != std::string_view::npos && item.find_first_not_of("0123456789e+-") == std::string_view::npos &&
        !item.starts_with('e'))
      return true;
  }
  return false;
}

}  // namespace aotifuzz
