#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace aotifuzz {

/// Operators of symbolic size expressions: what sympy-srepr text, guards_code and range keys of export use.
/// FloorDiv and Mod follow Python (round toward minus infinity, sign of the divisor); Eq..Ge and And/Or/Not give 0 or 1.
enum class ExprOp : uint8_t {
  kInt, kSymbol,
  kAdd, kMul, kPow, kNeg, kFloorDiv, kCeilDiv, kMod, kMax, kMin, kAbs,
  kModularIndexing,  ///< (a // b) % c
  kWhere,            ///< condition, then, else
  kEq, kNe, kLt, kLe, kGt, kGe, kAnd, kOr, kNot,
  kOpaque,           ///< something that the parser does not know (float functions...): evaluates to nothing; text() kept
};

/// Immutable symbolic expression over 64-bit integers. Cheap to copy (shared nodes); safe to share between threads.
/// Symbols are plain names: "s77" from export, or "x.size(1)", "x.stride(0)", "x.offset()" for what a case states.
class Expr {
 public:
  Expr() : Expr(integer(0)) {}
  static Expr integer(int64_t value);
  static Expr symbol(std::string name);
  static Expr make(ExprOp op, std::vector<Expr> args);
  static Expr opaque(std::string text);

  ExprOp op() const { return node_->op; }
  int64_t value() const { return node_->value; }                ///< kInt only
  const std::string& name() const { return node_->name; }       ///< kSymbol and kOpaque
  const std::vector<Expr>& args() const { return node_->args; }

  bool is_constant() const { return op() == ExprOp::kInt; }
  /// Python-like text; stable, fit for reports and signatures.
  std::string text() const;
  void collect_symbols(std::set<std::string>& out) const;
  bool has_opaque() const;

  /// Value under `lookup`; nullopt for an unknown symbol, an opaque part, division by zero, or overflow of int64.
  using Lookup = std::function<std::optional<int64_t>(const std::string& name)>;
  std::optional<int64_t> evaluate(const Lookup& lookup) const;
  /// The same expression with symbols replaced; a name for which `replace` gives nullopt stays.
  Expr substitute(const std::function<std::optional<Expr>(const std::string& name)>& replace) const;

  friend bool operator==(const Expr& a, const Expr& b);

 private:
  struct Node {
    ExprOp op = ExprOp::kInt;
    int64_t value = 0;
    std::string name;
    std::vector<Expr> args;
  };
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

}  // namespace aotifuzz
