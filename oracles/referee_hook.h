#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "oracles/node_hook.h"
#include "oracles/program_facts.h"
#include "oracles/rounding_model.h"

namespace aotifuzz {

/// Keeps a reference run in float64 / complex128 (see legal_sampler.h); what is drawn on top is up to subclasses.
///
/// Dtype arguments: low-precision ones become float64; factories that would use the default dtype get float64.
/// Numbers:  Python scalars are rounded to float32 where the program computes in float32 or less, as both sides do.
/// Integers: all-integer arguments of ops that make floating results become float64 (int / int, mean(dtype=...)).
/// Native ops run in the program's own dtypes, on rounded arguments; what they write is copied back.
class RefereeHook : public NodeHook {
 public:
  explicit RefereeHook(const ProgramFacts& facts) : facts_(facts) {}
  void before(const OpInfo& op, torch::jit::Stack& arguments) final;
  void after(const OpInfo& op, torch::jit::Stack& results) final;

 protected:
  /// One op in flight.
  struct Call {
    const OpInfo* op = nullptr;
    const c10::FunctionSchema* schema = nullptr;  ///< null: not in the dispatcher; then nothing is mapped
    const RoundingRow* row = nullptr;
    const NodeDtypes* dtypes = nullptr;  ///< null: unknown node
    bool native = false;

    /// Dtype of the i-th result tensor in the program; float32 for what the facts do not know.
    Dtype result_dtype(size_t index) const;
    Dtype argument_dtype(const std::string& name, size_t item = 0) const;
    int argument_index(std::string_view name) const;  ///< -1: the schema has none
    bool writes(size_t argument) const;
  };
  virtual void adjust_arguments(const Call&, torch::jit::Stack&) {}
  virtual void adjust_results(const Call&, torch::jit::Stack&) {}
  /// Value of a Python scalar in an op that computes in `dtype`.
  virtual double scalar_value(const Call&, double value, Dtype dtype);

  const ProgramFacts& facts_;

 private:
  void map_dtype_arguments(torch::jit::Stack& arguments);
  void widen_integers(torch::jit::Stack& arguments);
  void round_scalars(torch::jit::Stack& arguments);
  void narrow_for_native(torch::jit::Stack& arguments);

  Call call_;
  /// Originals of narrowed arguments that the op writes, with what it was given instead.
  std::vector<std::pair<at::Tensor, at::Tensor>> write_back_;
};

/// Applies `change` to each defined tensor of a value: a tensor, a list, a list of optionals. `item` counts in lists.
void change_tensors(c10::IValue& value, const std::function<at::Tensor(const at::Tensor&, size_t item)>& change);
/// Low-precision or not: real floating (not float64) and complex (not complex128).
bool is_low_precision(Dtype dtype);

}  // namespace aotifuzz
