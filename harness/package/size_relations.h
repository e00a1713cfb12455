#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/expr.h"

namespace aotifuzz {

/// "x" of "x.size(1)"; the name itself for a scalar.
std::string_view input_of_dimension(std::string_view name);

/// The same expression with the operands of commutative operators in a fixed order, so that equal conditions compare
/// equal.
Expr canonical(const Expr& e);

/// factor * name + constant
struct Affine {
  std::string name;
  int64_t factor = 0;
  int64_t constant = 0;
};
/// `e` when it is affine in exactly one symbol.
std::optional<Affine> affine(const Expr& e);

/// `dimension >= limit` or `dimension <= limit`.
struct LinearBound {
  std::string dimension;
  bool lower = true;
  int64_t limit = 0;
};
/// What a comparison that is affine in one dimension says ("x.size(0) - 1 >= 2" is x.size(0) >= 3).
std::optional<LinearBound> linear_bound(const Expr& comparison);

/// A symbol that no dimension is, solved from a dimension that depends on it: 2*s == x.size(0).
struct Derived {
  std::string symbol;
  Expr value;                     ///< x.size(0) // 2
  std::optional<Expr> condition;  ///< x.size(0) % 2 == 0
};

/// How export's symbols and the dimensions of inputs depend on each other.
class SizeRelations {
 public:
  bool knows(const std::string& symbol) const { return symbols_.contains(symbol); }
  void define(const std::string& symbol, Expr over_dimensions);
  /// `dimension` always equals `value`.
  void fix(const std::string& dimension, Expr value);

  /// `size`, an expression over symbols, is dimension `dimension`; solved when it is affine in one unknown symbol.
  std::optional<Derived> solve(const Expr& size, const std::string& dimension) const;

  /// Symbols replaced by dimensions; a symbol that is not defined stays.
  Expr to_dimensions(const Expr& e) const;
  /// Dimensions replaced by those which decide them, in canonical form.
  Expr reduced(const Expr& e) const;

 private:
  std::map<std::string, Expr> symbols_;
  std::map<std::string, Expr> fixed_;
};

}  // namespace aotifuzz
