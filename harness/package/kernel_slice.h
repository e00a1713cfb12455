#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "package/kernel_map.h"

namespace aotifuzz {

/// The part of the post-grad graph that one kernel call computes, as a program of its own: from what the call is given
/// to what it must leave behind.
struct KernelSlice {
  /// An input of the program.
  struct Leaf {
    enum class Kind : uint8_t {
      kHeld,      ///< in a buffer of the call: label `label` of argument `argument`, on entry
      kConstant,  ///< parameter or buffer `fqn`
      kLiteral,   ///< MapInput `input`
      kSymbol,    ///< a number: `expression`
      kUser,      ///< tensor `input` of the package's inputs; only in a slice of the whole graph
    };
    Kind kind = Kind::kHeld;
    std::string value = {};  ///< its name in the graph
    size_t argument = 0, label = 0;
    size_t input = 0;
    std::string fqn = {};
    Expr expression = {};
  };
  /// An output of the program.
  struct Output {
    size_t argument = 0, label = 0;  ///< label on exit
  };
  Program program;
  std::vector<Leaf> leaves;     ///< in the order of program.inputs
  std::vector<Output> outputs;  ///< in the order of program.outputs
};

/// Of an argument that holds several values on exit the one computed first is asked for: the others are views of it. An
/// error says why the call cannot be judged.
Result<KernelSlice> slice_of_call(const KernelMap& map, const MappedCall& call);

/// A program that computes `values` from the inputs of the package; `outputs` of the slice are left empty.
Result<KernelSlice> slice_of_values(const KernelMap& map, const std::vector<std::string>& values);

}  // namespace aotifuzz
