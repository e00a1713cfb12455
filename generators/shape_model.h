#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/contract.h"
#include "package/contract_bounds.h"

namespace aotifuzz {

/// Values of a contract's symbols, one per slot of its ShapeModel.
using SlotValues = std::vector<int64_t>;

/// A contract made ready for drawing sizes: symbols are numbered slots, expressions refer to slots, and only conditions
/// that the slots' own ranges and the size expressions do not already ensure are left. Built once per package;
/// immutable and safe to share between threads. Holds copies, so contract and bounds may go away.
class ShapeModel {
 public:
  /// Also looks for legal values to fall back on (deterministic, bounded work; the solver is not called).
  ShapeModel(const Contract& contract, const ContractBounds& bounds);

  /// One free symbol. Allowed values as far as known: residue modulo step, within min..max.
  struct Slot {
    std::string symbol, dim;
    int64_t min = 0, max = 0;  ///< max: declared, or kSizeMax
    int64_t step = 1, residue = 0;
    std::vector<int64_t> landmarks;  ///< within min..max
    /// The slot is a stride that the contract leaves free: of this input and dimension. -1: a size or a scalar.
    int stride_of = -1, stride_dim = 0;

    /// Nearest allowed value; below the least one: the least one.
    int64_t snap(int64_t value) const;
  };
  const std::vector<Slot>& slots() const { return slots_; }
  const Contract& contract() const { return contract_; }

  bool has_free_strides() const { return free_strides_; }
  /// Sets the slots that are strides to the least values at which no elements overlap, plus `padding` rows each.
  void settle_strides(SlotValues& values, int64_t padding) const;

  /// The slots are within their ranges, every size is >= 0 and every condition holds.
  bool legal(const SlotValues& values) const;
  /// Elements of all tensors together; saturates.
  int64_t elements(const SlotValues& values) const;
  /// A case with these sizes, strides as exported and const(0) everywhere. `values` must be legal.
  Case make_case(const SlotValues& values) const;
  /// Sizes exactly as the assignment states them, derived from the symbols it fixes where it states none: this may be
  /// outside the contract. nullopt when the assignment leaves something open.
  std::optional<Case> make_case(const Assignment& assignment) const;
  std::optional<SlotValues> slot_values(const Assignment& assignment) const;

  /// Legal values known to exist, the simplest first: what drawing falls back on. Empty when none was found.
  const std::vector<SlotValues>& pool() const { return pool_; }
  /// Legal boundary assignments of the bounds, in their order.
  const std::vector<SlotValues>& boundary() const { return boundary_; }

  static constexpr int64_t kSizeMax = int64_t{1} << 20;  ///< stands for "unbounded"

 private:
  struct Dim {
    int slot = -1;         ///< >= 0: the size is that slot
    int64_t constant = 0;  ///< used when the slot is -1 and no expression is needed
    bool computed = false;
    Expr expr;  ///< over slots
  };
  struct Tensor {
    std::vector<Dim> sizes, strides;
    bool dense = true;  ///< exported strides are row-major whatever the symbols are
  };
  int slot_of(const std::string& symbol) const;
  Expr over_slots(const Expr& expr) const;
  Expr dimensions_to_slots(const Expr& expr) const;
  Dim compile(const Expr& expr) const;
  static std::optional<int64_t> evaluate(const Expr& expr, const SlotValues& values);
  static std::optional<int64_t> evaluate(const Dim& dim, const SlotValues& values);
  void add_slots(const ContractBounds& bounds);
  void add_conditions();
  void find_free_strides();
  void fill_pool();
  bool is_dense(const Tensor& tensor) const;
  CaseInput make_input(size_t index) const;

  Contract contract_;
  std::vector<Slot> slots_;
  std::vector<Tensor> tensors_;
  std::vector<Expr> conditions_;
  bool free_strides_ = false;
  std::vector<SlotValues> boundary_, pool_;
};

}  // namespace aotifuzz
