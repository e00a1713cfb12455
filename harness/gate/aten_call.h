#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>
#include <string>
#include <vector>

namespace aotifuzz {

using SymSizes = std::vector<c10::SymInt>;

/// One boxed call of an ATen operator: arguments by position, results pushed in their place.
class AtenCall {
 public:
  AtenCall(const c10::OperatorHandle& op, torch::jit::Stack* stack)
      : op_(op), stack_(stack), count_(op.schema().arguments().size()) {}

  const c10::OperatorHandle& op() const { return op_; }
  const c10::IValue& at(size_t i) const { return (*stack_)[stack_->size() - count_ + i]; }
  size_t count() const { return count_; }
  at::Tensor tensor(size_t i) const { return at(i).toTensor(); }
  /// Of an argument that may be None.
  std::optional<int64_t> integer(size_t i) const;
  std::optional<at::ScalarType> dtype(size_t i) const;
  /// False where it is absent or no boolean.
  bool truth(size_t i) const { return i < count() && at(i).isBool() && at(i).toBool(); }
  c10::SymInt size(size_t i) const { return at(i).toSymInt(); }
  SymSizes sizes(size_t i) const { return at(i).toSymIntVector(); }
  /// Dimensions to reduce, by argument; all of them when it is None, absent or empty.
  std::vector<bool> reduced(size_t i, int64_t rank) const;
  /// Any tensor argument with symbolic sizes, or a symbolic number?
  bool is_symbolic() const;

  /// True, so that a rule can end with it.
  bool returns(std::vector<at::Tensor> results);
  /// One tensor, dense.
  bool returns_dense(SymSizes sizes, at::ScalarType dtype);
  bool returns_list(const std::vector<at::Tensor>& results);

 private:
  const c10::OperatorHandle& op_;
  torch::jit::Stack* stack_;
  size_t count_;
};

/// The sizes that two tensors are broadcast to. Asks which of two sizes is 1 only where it cannot be told, as ATen
/// does.
SymSizes broadcast(const SymSizes& a, const SymSizes& b);
int64_t wrapped(int64_t dimension, int64_t rank);

}  // namespace aotifuzz
