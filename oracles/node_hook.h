#pragma once

#include <ATen/core/stack.h>

#include <string>

namespace aotifuzz {

/// Called by the interpreter around each ATen op of a reference run. Used by the referee: the float64 run maps dtypes, the
/// sampled run draws legal rounding and legal values where the result is undefined.
class NodeHook {
 public:
  virtual ~NodeHook() = default;
  struct OpInfo {
    int id = 0;                ///< position of the node in the flat program
    std::string node;          ///< node name
    std::string target;        ///< "aten.add.Tensor"
    bool mutates = false;      ///< the schema writes an argument
  };
  /// Arguments in schema order, defaults filled in, about to be passed. May replace any of them.
  virtual void before(const OpInfo& op, torch::jit::Stack& arguments) = 0;
  /// Results in schema order. May replace tensors (never for a mutating op: the alias would be lost; write in place).
  virtual void after(const OpInfo& op, torch::jit::Stack& results) = 0;
};

}  // namespace aotifuzz
