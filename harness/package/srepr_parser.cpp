#include "package/srepr_parser.h"

#include <charconv>
#include <string>
#include <vector>

#include "core/size_functions.h"

namespace aotifuzz {
namespace {

// Real expressions nest below 20; the limits keep the recursion and the printed opaque texts small.
constexpr int kDepthMax = 100;
constexpr size_t kTextMax = 1 << 16;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Expr> parse() {
    Expr result = expression(0);
    if (error_.empty() && at_ != text_.size()) fail("text follows the expression");
    if (!error_.empty()) return parse_error(error_, "srepr text at character " + std::to_string(at_));
    return result;
  }

 private:
  Expr fail(const char* what) {
    if (error_.empty()) error_ = what;
    return {};
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  }
  std::string_view word() {
    skip_spaces();
    const size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::optional<std::string> quoted() {
    skip_spaces();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) {
      fail("a quoted text does not end");
      return std::nullopt;
    }
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    skip_spaces();
    return value;
  }

  Expr atom(std::string_view name) {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (code == std::errc() && end == name.data() + name.size()) return Expr::integer(value);
    if (name == "true" || name == "True") return Expr::integer(1);
    if (name == "false" || name == "False") return Expr::integer(0);
    return Expr::opaque(std::string(name));
  }

  Expr expression(int depth) {
    if (depth > kDepthMax) return fail("expression is nested too deeply");
    const std::string_view name = word();
    if (name.empty()) return fail("expected a name or a number");
    if (!take('(')) {
      skip_spaces();
      return atom(name);
    }
    std::vector<Expr> args;
    std::vector<std::string> texts;
    while (error_.empty() && !take(')')) {
      if ((!args.empty() || !texts.empty()) && !take(',')) return fail("expected ',' or ')'");
      if (std::optional<std::string> text = quoted()) {
        texts.push_back(std::move(*text));
        continue;
      }
      const size_t before = at_;
      const std::string_view keyword = word();
      if (!keyword.empty() && take('=')) {  // an assumption such as positive=True says nothing that we use
        if (word().empty()) return fail("expected a value after '='");
        continue;
      }
      at_ = before;
      args.push_back(expression(depth + 1));
    }
    if (!error_.empty()) return {};
    skip_spaces();
    if (name == "Symbol" || name == "Dummy") {
      if (texts.size() != 1 || texts[0].empty()) return fail("a symbol needs one name");
      return Expr::symbol(texts[0]);
    }
    if (!texts.empty()) return Expr::opaque(std::string(name) + "('" + texts[0] + "')");
    return functions_.call(name, std::move(args));
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
  SizeFunctions functions_;
};

}  // namespace

Result<Expr> parse_srepr(std::string_view text) {
  if (text.size() > kTextMax) return parse_error("expression is longer than 64 KiB", "srepr text");
  return Parser(text).parse();
}

}  // namespace aotifuzz
