#include "worker/error_text.h"

#include <cctype>

namespace aotifuzz {
namespace {

constexpr size_t kLongest = 300;  // a signature is read by people

bool hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view s) {
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

/// Length of a source position "path/name.cpp:123" at the start of `s`; 0 when there is none.
size_t source_position(std::string_view s) {
  size_t n = 0;
  while (n < s.size() && !std::isspace(static_cast<unsigned char>(s[n])) && s[n] != ':' && s[n] != ')') ++n;
  const std::string_view path = s.substr(0, n);
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return 0;
  const std::string_view suffix = path.substr(dot + 1);
  if (suffix != "cpp" && suffix != "h" && suffix != "cc" && suffix != "cu" && suffix != "hpp" && suffix != "cuh")
    return 0;
  if (n + 1 >= s.size() || s[n] != ':' || !digit(s[n + 1])) return 0;
  ++n;
  while (n < s.size() && digit(s[n])) ++n;
  return n;
}

/// Drops source positions, with the " at " or ": " that ties them to the text, and hides addresses.
std::string without_places(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    const bool word_start =
        i == 0 || std::isspace(static_cast<unsigned char>(s[i - 1])) || s[i - 1] == '(' || s[i - 1] == '[';
    if (word_start) {
      if (const size_t n = source_position(s.substr(i)); n > 0) {
        i += n;
        if (i < s.size() && (s[i] == ',' || s[i] == ':')) ++i;
        while (i < s.size() && s[i] == ' ') ++i;
        if (out.ends_with("at ")) out.resize(out.size() - 3);
        continue;
      }
    }
    if (s[i] == '0' && i + 2 < s.size() && s[i + 1] == 'x' && hex(s[i + 2])) {
      out += "0x...";
      i += 2;
      while (i < s.size() && hex(s[i])) ++i;
      continue;
    }
    out += s[i++];
  }
  return out;
}

}  // namespace

std::string clean_error(std::string_view text) {
  std::string_view line;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.empty()) break;
  }
  std::string clean = without_places(line);
  std::string_view view = trim(clean);
  while (view.starts_with("Error: ")) view = trim(view.substr(7));
  std::string result(view.substr(0, kLongest));
  // A cut must not leave half a UTF-8 sequence: the report is JSON.
  while (!result.empty() && result.size() == kLongest && (static_cast<unsigned char>(result.back()) & 0x80))
    result.pop_back();
  return result;
}

bool is_out_of_memory(std::string_view text) {
  for (std::string_view needle :
       {"can't allocate memory", "bad_alloc", "out of memory", "Cannot allocate memory", "_STATUS_ALLOC_FAILED"})
    if (text.find(needle) != std::string_view::npos) return true;
  return false;
}

}  // namespace aotifuzz
