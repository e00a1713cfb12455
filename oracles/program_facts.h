#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/dtype.h"

namespace aotifuzz {

/// What the reference's graph says about one user output; computed once per package by oracles/program_facts_builder.
struct OutputFacts {
  std::string node;        ///< graph value that is this output
  std::string op;          ///< target of the node that makes it, views skipped: "aten.max.dim"
  int op_result = 0;       ///< which result of that op
  std::string random_op;   ///< first op with random results it depends on; "" = none
  bool elementwise_only = true;  ///< no reduction or contraction between it and the inputs
  double rounding_budget = 0;    ///< sum over the ops on the way of their rounding units (legal_sampler's table)
  /// Set when the output is the index result of an arg-reduction, sort or topk: judged by the value found at the index.
  std::string arg_op;      ///< "aten.argmax.default"
  std::string arg_node;    ///< its node
  int64_t arg_dim = 0;
  bool arg_flat = false;   ///< no dim: index into the flattened operand
  bool arg_stable = false; ///< exact ties keep their order, so the position is defined
  std::string arg_operand; ///< graph value searched: recorded by the reference run as `watched`
};

/// Dtypes that one node's tensors have in the program as written: the referee's float64 runs no longer show them.
struct NodeDtypes {
  std::vector<Dtype> results;                           ///< tensors of the results, flat; kUnknown for other kinds
  std::map<std::string, std::vector<Dtype>> arguments;  ///< by schema argument name; lists have several
};

struct ProgramFacts {
  std::vector<OutputFacts> outputs;
  std::vector<std::string> watched;     ///< graph values that the reference run must record
  /// Without a program: a kernel or extern call of the package whose name tells of random numbers or of memory never
  /// written; two runs may then rightly differ. "" = none seen.
  std::string random_kernel;
  bool has_uninitialized = false;       ///< some aten.empty*: elements may be undefined
  std::vector<std::string> mutated_inputs;  ///< names of user inputs that the program writes
  std::vector<std::string> ops;         ///< distinct targets, sorted
  std::map<std::string, NodeDtypes> dtypes;  ///< by node name; sub-graphs included
  std::vector<std::string> unknown_ops;      ///< targets without a row in rounding_model: judged by a conservative factor
};

}  // namespace aotifuzz
