#include "core/guard_parser.h"

#include <charconv>

#include "core/size_functions.h"

namespace aotifuzz {
namespace {

// Python's own printers nest below 30; the limit keeps the recursion of parser and Expr small.
constexpr int kDepthMax = 100;
constexpr size_t kTextMax = 1 << 16;

enum class TokenKind { kEnd, kInteger, kReal, kName, kString, kOperator };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    const size_t begin = at_;
    if (at_ >= text_.size()) return {};
    const char c = text_[at_];
    if (is_digit(c)) return number(begin);
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      return {TokenKind::kName, text_.substr(begin, at_ - begin)};
    }
    if (c == '\'' || c == '"') {
      const size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) return unknown();
      at_ = end + 1;
      return {TokenKind::kString, text_.substr(begin + 1, end - begin - 1)};
    }
    for (std::string_view symbol : {"**", "//", "==", "!=", "<=", ">="})
      if (text_.substr(at_).starts_with(symbol)) {
        at_ += 2;
        return {TokenKind::kOperator, symbol};
      }
    if (std::string_view("+-*/%()[],.<>").find(c) == std::string_view::npos) return unknown();
    ++at_;
    return {TokenKind::kOperator, text_.substr(begin, 1)};
  }

  bool failed() const { return failed_; }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

  Token number(size_t begin) {
    bool real = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign = (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !exponent_sign) break;
      real |= !is_digit(c);
      ++at_;
    }
    return {real ? TokenKind::kReal : TokenKind::kInteger, text_.substr(begin, at_ - begin)};
  }

  Token unknown() {
    failed_ = true;
    at_ = text_.size();
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  bool failed_ = false;
};

class Parser {
 public:
  Parser(std::string_view text, const InputNamer& namer) : lexer_(text), namer_(namer) { advance(); }

  Result<Expr> parse() {
    Expr result = disjunction(0);
    if (error_.empty() && lexer_.failed()) fail("unknown character or unfinished text");
    if (error_.empty() && token_.kind != TokenKind::kEnd) fail("unexpected text after the expression");
    if (!error_.empty()) return parse_error(error_, "guard text");
    return result;
  }

 private:
  Expr fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    token_ = {};  // nothing more is read
    return {};
  }
  void advance() {
    if (error_.empty()) token_ = lexer_.next();
  }
  bool is(std::string_view text) const {
    return (token_.kind == TokenKind::kOperator || token_.kind == TokenKind::kName) && token_.text == text;
  }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    advance();
    return true;
  }
  bool expect(std::string_view text) {
    if (take(text)) return true;
    fail("expected '" + std::string(text) + "'");
    return false;
  }

  Expr disjunction(int depth) {
    if (depth > kDepthMax) return fail("expression is nested too deeply");
    std::vector<Expr> parts = {conjunction(depth)};
    while (take("or")) parts.push_back(conjunction(depth));
    return Expr::make(ExprOp::kOr, std::move(parts));
  }

  Expr conjunction(int depth) {
    std::vector<Expr> parts = {negation(depth)};
    while (take("and")) parts.push_back(negation(depth));
    return Expr::make(ExprOp::kAnd, std::move(parts));
  }

  Expr negation(int depth) {
    if (depth > kDepthMax) return fail("expression is nested too deeply");
    if (take("not")) return Expr::make(ExprOp::kNot, {negation(depth + 1)});
    return comparison(depth);
  }

  std::optional<ExprOp> comparison_op() const {
    static constexpr std::pair<std::string_view, ExprOp> kOps[] = {{"==", ExprOp::kEq}, {"!=", ExprOp::kNe},
                                                                   {"<", ExprOp::kLt},  {"<=", ExprOp::kLe},
                                                                   {">", ExprOp::kGt},  {">=", ExprOp::kGe}};
    for (const auto& [text, op] : kOps)
      if (is(text)) return op;
    return std::nullopt;
  }

  Expr comparison(int depth) {
    Expr left = sum(depth);
    std::vector<Expr> parts;
    while (const std::optional<ExprOp> op = comparison_op()) {
      advance();
      Expr right = sum(depth);
      if (comparison_op() && is_larger_than(right, kRepeatedNodesMax)) return fail("chained comparison is too large");
      parts.push_back(Expr::make(*op, {left, right}));
      left = std::move(right);
    }
    return parts.empty() ? left : Expr::make(ExprOp::kAnd, std::move(parts));
  }

  Expr sum(int depth) {
    std::vector<Expr> parts = {term(depth)};
    while (true) {
      if (take("+"))
        parts.push_back(term(depth));
      else if (take("-"))
        parts.push_back(Expr::make(ExprOp::kMul, {Expr::integer(-1), term(depth)}));
      else
        break;
    }
    return Expr::make(ExprOp::kAdd, std::move(parts));
  }

  Expr term(int depth) {
    std::vector<Expr> factors = {unary(depth)};
    const auto left = [&] { return Expr::make(ExprOp::kMul, std::exchange(factors, {})); };
    while (true) {
      if (take("*")) {
        factors.push_back(unary(depth));
      } else if (take("//")) {
        Expr dividend = left();
        factors = {Expr::make(ExprOp::kFloorDiv, {std::move(dividend), unary(depth)})};
      } else if (take("%")) {
        Expr dividend = left();
        factors = {Expr::make(ExprOp::kMod, {std::move(dividend), unary(depth)})};
      } else if (take("/")) {
        Expr dividend = left();
        factors = {functions_.divide(std::move(dividend), unary(depth))};
      } else {
        return left();
      }
      // A long chain "a // b // c ..." is a deep tree: bound it as nesting is.
      if (++chain_ > kChainMax) return fail("expression has too many operators");
    }
  }

  Expr unary(int depth) {
    if (depth > kDepthMax) return fail("expression is nested too deeply");
    if (take("-")) {
      Expr operand = unary(depth + 1);
      if (operand.is_constant()) return Expr::make(ExprOp::kNeg, {operand});
      return Expr::make(ExprOp::kMul, {Expr::integer(-1), std::move(operand)});
    }
    if (take("+")) return unary(depth + 1);
    Expr base = atom(depth + 1);
    if (take("**")) return Expr::make(ExprOp::kPow, {std::move(base), unary(depth + 1)});
    return base;
  }

  std::vector<Expr> arguments(int depth) {
    std::vector<Expr> args;
    while (error_.empty() && !take(")")) {
      if (!args.empty() && !expect(",")) break;
      args.push_back(disjunction(depth + 1));
    }
    return args;
  }

  Expr atom(int depth) {
    if (depth > kDepthMax) return fail("expression is nested too deeply");
    const Token token = token_;
    switch (token.kind) {
      case TokenKind::kInteger: {
        advance();
        int64_t value = 0;
        const auto [end, code] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        return code == std::errc() ? Expr::integer(value) : Expr::opaque(std::string(token.text));
      }
      case TokenKind::kReal:
        advance();
        return Expr::opaque(std::string(token.text));
      case TokenKind::kString:
        advance();
        return Expr::opaque("'" + std::string(token.text) + "'");
      case TokenKind::kName:
        return named(depth);
      default:
        break;
    }
    if (take("(")) {
      Expr inner = disjunction(depth + 1);
      expect(")");
      return inner;
    }
    return fail("expected a number, a name or '('");
  }

  Expr named(int depth) {
    std::string name(token_.text);
    // As names they would come back as operators when the text of the expression is read again.
    if (name == "not" || name == "and" || name == "or") return fail("'" + name + "' where a value is expected");
    advance();
    if (name == "True") return Expr::integer(1);
    if (name == "False") return Expr::integer(0);
    if (name == "L" && is("[")) return access_path();
    // "x.size(1)" of Expr::text(), "math.ceil(...)" and "torch.sym_max(...)" of the Python printer.
    while (take(".")) {
      if (token_.kind != TokenKind::kName) return fail("expected a name after '.'");
      name += "." + std::string(token_.text);
      advance();
    }
    if (!take("(")) return Expr::symbol(std::move(name));
    const std::vector<Expr> args = arguments(depth);
    if (name.ends_with(".offset") && args.empty()) return Expr::symbol(name + "()");
    if ((name.ends_with(".size") || name.ends_with(".stride")) && args.size() == 1 && args[0].is_constant())
      return Expr::symbol(name + "(" + std::to_string(args[0].value()) + ")");
    return functions_.call(name, args);
  }

  /// Content of "[...]": a text only where `or_text`.
  std::string bracketed(bool or_text) {
    std::string part;
    if (!expect("[")) return part;
    const bool negative = take("-");
    if (token_.kind == TokenKind::kString && or_text && !negative) {
      part = token_.text;
    } else {
      // As a number, not as text: "[00]" and "[-0]" mean the same dim as "[0]".
      int64_t value = 0;
      const auto [end, code] = std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), value);
      if (token_.kind != TokenKind::kInteger || code != std::errc())
        fail(or_text ? "expected a number or a text in '[]'" : "expected a number in '[]'");
      part = std::to_string(negative ? -value : value);
    }
    advance();
    expect("]");
    return part;
  }

  Expr access_path() {
    std::vector<std::string> path;
    std::string text = "L";
    while (error_.empty()) {
      if (is("[")) {
        path.push_back(bracketed(/*or_text=*/true));
        text += "[" + path.back() + "]";
      } else if (take(".")) {
        if (token_.kind != TokenKind::kName) return fail("expected a name after '.'");
        const std::string member(token_.text);
        advance();
        if (is("(")) return method(path, text, member);
        path.push_back(member);
        text += "." + member;
      } else {
        break;
      }
      if (path.size() > kDepthMax) return fail("access path is too long");
    }
    const std::optional<std::string> input = namer_(path);
    return input ? Expr::symbol(*input) : Expr::opaque(text);
  }

  Expr method(const std::vector<std::string>& path, const std::string& text, const std::string& member) {
    expect("(");
    expect(")");
    const bool indexed = is("[");
    const std::string dim = indexed ? bracketed(/*or_text=*/false) : "";
    const std::optional<std::string> input = namer_(path);
    if (input && indexed && (member == "size" || member == "stride"))
      return Expr::symbol(*input + "." + member + "(" + dim + ")");
    if (input && !indexed && member == "storage_offset") return Expr::symbol(*input + ".offset()");
    return Expr::opaque(text + "." + member + "()" + (indexed ? "[" + dim + "]" : ""));
  }

  static constexpr int kChainMax = 2000;

  Lexer lexer_;
  const InputNamer& namer_;
  Token token_;
  std::string error_;
  int chain_ = 0;
  SizeFunctions functions_;
};

}  // namespace

Result<Expr> parse_guard(std::string_view text, const InputNamer& namer) {
  if (text.size() > kTextMax) return parse_error("guard is longer than 64 KiB", "guard text");
  return Parser(text, namer).parse();
}

Result<Expr> parse_size_text(std::string_view text) {
  return parse_guard(text, [](const std::vector<std::string>&) { return std::nullopt; });
}

}  // namespace aotifuzz
