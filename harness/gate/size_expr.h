#pragma once

#include <c10/core/SymBool.h>
#include <c10/core/SymFloat.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymNodeImpl.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace aotifuzz {

/// Values of the symbols of one operator, by index.
using SymbolValues = std::vector<int64_t>;

struct SizeExpr;
using SizeExprPtr = c10::intrusive_ptr<SizeExpr>;

/// A size as a symbol of its own or computed from others: what a meta kernel is handed in place of a number. ATen and
/// the meta compute with it through c10::SymInt, SymBool and SymFloat; whoever asks it for a number gets the one that
/// the run's symbol values give, and the run writes down that it was asked (symbolic_run.h).
///
/// Types:   integer, boolean and float nodes are one class, as SymNodeImpl's interface has it.
/// Folding: operations on constants give constants; x+0, x*1 and the like give x. No other simplification: two texts
/// that differ may
///          mean the same, so expressions are compared by value.
/// Division: `/` on SymInt arrives as floordiv. Python's floor is what it means there.
/// Overflow: wraps, as the kernels' int64 does on the machines that we run on.
/// Threads: immutable but for the reference count.
struct SizeExpr final : c10::SymNodeImpl {
  enum class Op : uint8_t {
    kSymbol,
    kConstant,
    kAdd,
    kSub,
    kMul,
    kFloorDiv,
    kTrueDiv,
    kMod,
    kPow,
    kMin,
    kMax,
    kNeg,
    kEq,
    kNe,
    kLt,
    kLe,
    kGt,
    kGe,
    kAnd,
    kOr,
    kNot,
    kIfElse,
    kToFloat,
    kFloor,
    kCeil,
    kDense,  ///< operands: sizes, then strides; true when they are those of a dense tensor in some order
  };
  enum class Type : uint8_t { kInt, kBool, kFloat };

  static SizeExprPtr symbol(int index);
  static SizeExprPtr constant(int64_t value);
  static SizeExprPtr make(Op op, Type type, std::vector<SizeExprPtr> operands);
  static SizeExprPtr of(const c10::SymInt& size);
  static SizeExprPtr of(const c10::SymNode& node);  ///< raises c10::Error for a node that is not ours
  c10::SymInt as_sym_int();

  bool is_constant_node() const { return op == Op::kConstant; }
  int64_t integer(const SymbolValues& values) const;
  double number(const SymbolValues& values) const;
  /// Names for the symbols; those past the end are printed as s3.
  std::string text(const std::vector<std::string>& names) const;
  void collect_constants(std::set<int64_t>* out) const;
  void collect_symbols(std::set<int>* out) const;
  /// The same boolean for every value of the symbols, as far as a few dozen samples tell, 0, 1 and 2 among them.
  std::optional<bool> known() const;

  Op op;
  Type type;
  int64_t value = 0;  ///< of integer and boolean constants; index of symbols
  double real = 0;    ///< of float constants
  std::vector<SizeExprPtr> operands;

  SizeExpr(Op op, Type type) : op(op), type(type) {}

  // c10::SymNodeImpl
  bool is_int() override { return type == Type::kInt; }
  bool is_bool() override { return type == Type::kBool; }
  bool is_float() override { return type == Type::kFloat; }
  c10::SymNode add(const c10::SymNode& other) override { return arithmetic(Op::kAdd, other); }
  c10::SymNode sub(const c10::SymNode& other) override { return arithmetic(Op::kSub, other); }
  c10::SymNode mul(const c10::SymNode& other) override { return arithmetic(Op::kMul, other); }
  c10::SymNode truediv(const c10::SymNode& other) override { return binary(Op::kTrueDiv, Type::kFloat, other); }
  c10::SymNode pow(const c10::SymNode& other) override { return arithmetic(Op::kPow, other); }
  c10::SymNode floordiv(const c10::SymNode& other) override { return arithmetic(Op::kFloorDiv, other); }
  c10::SymNode mod(const c10::SymNode& other) override { return arithmetic(Op::kMod, other); }
  c10::SymNode eq(const c10::SymNode& other) override { return binary(Op::kEq, Type::kBool, other); }
  c10::SymNode ne(const c10::SymNode& other) override { return binary(Op::kNe, Type::kBool, other); }
  c10::SymNode gt(const c10::SymNode& other) override { return binary(Op::kGt, Type::kBool, other); }
  c10::SymNode lt(const c10::SymNode& other) override { return binary(Op::kLt, Type::kBool, other); }
  c10::SymNode le(const c10::SymNode& other) override { return binary(Op::kLe, Type::kBool, other); }
  c10::SymNode ge(const c10::SymNode& other) override { return binary(Op::kGe, Type::kBool, other); }
  c10::SymNode sym_min(const c10::SymNode& other) override { return arithmetic(Op::kMin, other); }
  c10::SymNode sym_max(const c10::SymNode& other) override { return arithmetic(Op::kMax, other); }
  c10::SymNode sym_or(const c10::SymNode& other) override { return binary(Op::kOr, Type::kBool, other); }
  c10::SymNode sym_and(const c10::SymNode& other) override { return binary(Op::kAnd, Type::kBool, other); }
  c10::SymNode sym_not() override { return make(Op::kNot, Type::kBool, {self()}); }
  c10::SymNode sym_ite(const c10::SymNode& yes, const c10::SymNode& no) override;
  c10::SymNode neg() override { return make(Op::kNeg, type, {self()}); }
  c10::SymNode ceil() override { return make(Op::kCeil, Type::kInt, {self()}); }
  c10::SymNode floor() override { return make(Op::kFloor, Type::kInt, {self()}); }
  c10::SymNode sym_float() override { return make(Op::kToFloat, Type::kFloat, {self()}); }
  c10::SymNode clone() override { return self(); }
  c10::SymNode wrap_int(int64_t number) override { return constant(number); }
  c10::SymNode wrap_float(double number) override;
  c10::SymNode wrap_bool(bool truth) override;
  c10::SymNode is_non_overlapping_and_dense(c10::ArrayRef<c10::SymNode> sizes,
                                            c10::ArrayRef<c10::SymNode> strides) override;
  int64_t guard_int(const char* file, int64_t line) override;
  bool guard_bool(const char* file, int64_t line) override;
  double guard_float(const char* file, int64_t line) override;
  bool guard_size_oblivious(const char* file, int64_t line) override { return guard_bool(file, line); }
  bool guard_or_false(const char*, int64_t) override { return known().value_or(false); }
  bool guard_or_true(const char*, int64_t) override { return known().value_or(true); }
  bool statically_known_true(const char*, int64_t) override { return known().value_or(false); }
  bool expect_true(const char* file, int64_t line) override;
  int64_t int_() override { return guard_int("", 0); }
  bool bool_() override { return guard_bool("", 0); }
  /// As if the value were unknown to all: contiguity then stays an expression, and nobody asks for a number unless the
  /// meta does.
  bool has_hint() override { return is_constant_node(); }
  std::string str() override;
  std::optional<int64_t> constant_int() override;
  std::optional<bool> constant_bool() override;
  std::optional<int64_t> maybe_as_int() override { return constant_int(); }
  bool is_symbolic() override { return !is_constant_node(); }

 private:
  SizeExprPtr self() { return SizeExprPtr::reclaim_copy(this); }
  c10::SymNode binary(Op op, Type type, const c10::SymNode& other) { return make(op, type, {self(), of(other)}); }
  c10::SymNode arithmetic(Op op, const c10::SymNode& other);
  bool dense(const SymbolValues& values) const;
};

}  // namespace aotifuzz
