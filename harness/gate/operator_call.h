#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>
#include <vector>

#include "gate/argument_builder.h"
#include "gate/symbolic_run.h"
#include "gate/tensor_facts.h"
#include "gate/unbacked_sizes.h"

namespace aotifuzz {

/// What one call did.
struct CallResult {
  bool finished = false;
  bool out_of_memory = false;      ///< it did not finish for want of memory, which says nothing about it
  std::string error;               ///< what it raised, cleaned (worker/error_text.h)
  std::vector<at::Tensor> inputs;  ///< of every argument, in order
  std::vector<at::Tensor> outputs;
  std::vector<TensorFacts> facts;               ///< of the outputs
  std::vector<void*> throw_frames;              ///< of symbolic and meta runs
  std::vector<std::vector<void*>> made_frames;  ///< of symbolic and meta runs: by output, where it was made
  std::vector<SizeEvent> events;                ///< of symbolic runs
  std::string read_data;     ///< the ATen operator by which a meta read values of a tensor; "" = none
  std::string without_meta;  ///< an operator that the meta calls and that has no C++ meta; "" = none
  std::string unruled;       ///< the ATen operator without a rule that spoiled a symbolic run
  // Of calls in Python (fake_client.h):
  SourcePlace throw_place;             ///< where it raised
  std::vector<UnbackedSize> unbacked;  ///< symbols behind those of the call
  bool path_known = true;              ///< false: a condition that it went by has no form here
  std::string not_followed;            ///< an expression or output that has no form here; "" = none
};

/// Calls one operator in the three kinds of run. Autograd is left out: what is judged is what lies below it.
class OperatorCall {
 public:
  /// `device`: where the tensors of kernels lie.
  OperatorCall(const c10::OperatorHandle& op, const DrawnArguments& drawn, c10::Device device = c10::kCPU);

  /// Arguments of one call. Of an out variant, the tensors that it writes have the size that the functional variant's
  /// meta declares, where there is one and no spec says otherwise.
  torch::jit::Stack arguments(const CallPoint& point, RunKind kind) const;
  CallResult run(torch::jit::Stack arguments, const CallPoint& point, RunKind kind) const;
  /// Runs the kernel once more to see where it makes output `output` (-1: where it calls ATen first); empty: it calls
  /// ATen nowhere.
  std::vector<void*> locate_in_kernel(const CallPoint& point, int output) const;

  const ArgumentBuilder& builder() const { return builder_; }
  const std::vector<std::string>& symbol_names() const { return names_; }
  bool outs_have_declared_size() const { return functional_.has_value(); }

 private:
  CallResult call(const c10::OperatorHandle& op, torch::jit::Stack stack, const CallPoint& point, RunKind kind) const;
  torch::jit::Stack build(const CallPoint& point, RunKind kind) const;
  void size_outs(torch::jit::Stack* stack, const CallPoint& point, RunKind kind) const;

  c10::OperatorHandle op_;
  const DrawnArguments& drawn_;
  ArgumentBuilder builder_;
  std::vector<std::string> names_;
  SymbolValues least_;
  std::optional<c10::OperatorHandle> functional_;
  std::vector<size_t> outs_;  ///< arguments that the functional variant returns instead
};

}  // namespace aotifuzz
