#include "package/error_recogniser.h"

#include <algorithm>

namespace aotifuzz {
namespace {

constexpr size_t kLineMax = 4000, kShownMax = 300;
constexpr std::ptrdiff_t kDistinctMax = 8;  // of one row: each is a section of what is printed
constexpr size_t kLinesAfter = 3;           // that may lie between an error and the line that says more of it

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_.:+-/").find(c) != std::string_view::npos;
}

bool is_alnum(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Does a terminal's order for a colour end here ("\x1b[31m")?
bool is_colour_before(std::string_view line) {
  const size_t escape = line.rfind('\x1b');
  return line.ends_with('m') && escape != std::string_view::npos &&
         line.find_first_not_of("[;0123456789m", escape + 1) == std::string_view::npos;
}

struct Piece {
  std::string_view literal;  // stands first
  std::string_view name;     // of the placeholder after it; "" = none
  char kind = 0;
};

std::vector<Piece> pieces_of(std::string_view pattern) {
  std::vector<Piece> pieces;
  while (!pattern.empty()) {
    Piece piece;
    const size_t open = pattern.find('{');
    const size_t close = open == std::string_view::npos ? open : pattern.find('}', open);
    piece.literal = pattern.substr(0, close == std::string_view::npos ? close : open);
    pattern.remove_prefix(piece.literal.size());
    if (const size_t length = close == std::string_view::npos ? 0 : close - open + 1; length > 0) {
      if (length >= 4) {  // "{n#}"
        piece.name = pattern.substr(1, length - 3);
        piece.kind = pattern[length - 2];
      }
      pattern.remove_prefix(length);
    }
    pieces.push_back(piece);
  }
  return pieces;
}

/// The pieces at `line`'s front, the first literal already found there.
std::optional<Captures> match_here(const std::vector<Piece>& pieces, std::string_view line, bool to_the_end) {
  Captures captures;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (!line.starts_with(piece.literal)) return std::nullopt;
    line.remove_prefix(piece.literal.size());
    if (piece.kind == 0) continue;
    const std::string_view next = i + 1 < pieces.size() ? pieces[i + 1].literal : std::string_view();
    size_t length = 0;
    if (piece.kind == '*') {
      length = next.empty() ? line.size() : line.find(next);
      if (length == std::string_view::npos) return std::nullopt;
    } else if (piece.kind == '#') {
      length = !line.empty() && line[0] == '-' ? 1 : 0;
      const size_t digits = length;
      while (length < line.size() && is_digit(line[length])) ++length;
      if (length == digits) return std::nullopt;
    } else {
      while (length < line.size() && is_word(line[length])) ++length;
      // A word's last colon or dot is the sentence's.
      while (length > 0 && !next.empty() && !line.substr(length).starts_with(next)) --length;
      if (length == 0) return std::nullopt;
    }
    captures[std::string(piece.name)] = std::string(line.substr(0, length));
    line.remove_prefix(length);
  }
  if (to_the_end && !line.empty()) return std::nullopt;
  // "exit code 124" is not in "exit code 1240".
  const std::string_view last = pieces.back().literal;
  if (pieces.back().kind == 0 && !last.empty() && !line.empty() && is_alnum(last.back()) && is_alnum(line.front()))
    return std::nullopt;
  return captures;
}

std::string_view trimmed(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// A log may hold what a terminal takes for orders.
std::string printable(std::string_view line) {
  std::string out(line);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(trimmed(text.substr(0, std::min(end, kLineMax))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<Captures> match_row(const ErrorPattern& row, const std::vector<std::string_view>& lines, size_t at) {
  for (const char* text : row.texts) {
    std::optional<Captures> captures = match_text(text, lines[at]);
    if (!captures) continue;
    if (*row.then == '\0') return captures;
    for (size_t i = at + 1; i < lines.size() && i <= at + kLinesAfter; ++i)
      if (const std::optional<Captures> more = match_text(row.then, lines[i])) {
        captures->insert(more->begin(), more->end());
        return captures;
      }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Captures> match_text(std::string_view pattern, std::string_view line) {
  const bool to_the_end = pattern.ends_with('$');
  if (to_the_end) pattern.remove_suffix(1);
  // Nearly every line has nothing to do with a pattern: its first fixed part says so at once.
  std::string_view fixed = pattern;
  if (fixed.starts_with('{')) fixed.remove_prefix(std::min(fixed.find('}'), fixed.size() - 1) + 1);
  if (line.find(fixed.substr(0, fixed.find('{'))) == std::string_view::npos) return std::nullopt;
  const std::vector<Piece> pieces = pieces_of(pattern);
  if (pieces.empty()) return std::nullopt;
  const std::string_view first = pieces[0].literal;
  if (first.empty()) {  // at the beginning of each word
    for (size_t at = 0; at < line.size(); ++at)
      if (at == 0 || !is_word(line[at - 1]))
        if (std::optional<Captures> captures = match_here(pieces, line.substr(at), to_the_end)) return captures;
    return std::nullopt;
  }
  for (size_t at = line.find(first); at != std::string_view::npos; at = line.find(first, at + 1)) {
    if (at > 0 && is_alnum(first.front()) && is_alnum(line[at - 1]) && !is_colour_before(line.substr(0, at))) continue;
    if (std::optional<Captures> captures = match_here(pieces, line.substr(at), to_the_end)) return captures;
  }
  return std::nullopt;
}

std::vector<RecognisedError> recognise_errors(std::string_view log) {
  std::vector<RecognisedError> found;
  const std::vector<std::string_view> lines = lines_of(log);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    for (const ErrorPattern& row : error_patterns()) {
      std::optional<Captures> captures = match_row(row, lines, i);
      if (!captures) continue;
      const auto of_row = [&row](const RecognisedError& error) { return error.pattern == &row; };
      const auto same = std::find_if(found.begin(), found.end(), [&](const RecognisedError& error) {
        return error.pattern == &row && error.captures == *captures;
      });
      if (same != found.end())
        ++same->times;
      else if (std::count_if(found.begin(), found.end(), of_row) >= kDistinctMax)
        ++std::find_if(found.begin(), found.end(), of_row)->others;
      else
        found.push_back({&row, i + 1, 1, 0, printable(lines[i].substr(0, kShownMax)), std::move(*captures)});
      break;
    }
  }
  const bool cause =
      std::any_of(found.begin(), found.end(), [](const RecognisedError& error) { return !error.pattern->consequence; });
  if (cause) std::erase_if(found, [](const RecognisedError& error) { return error.pattern->consequence; });
  return found;
}

}  // namespace aotifuzz
