#pragma once

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/op_spec.h"

namespace aotifuzz {

/// The arguments of one operator in every way that they are tried.
struct DrawnArguments {
  std::vector<SpecSymbol> symbols;
  std::vector<Expr> conditions;                      ///< at which sizes it may be called, over the symbols' names
  std::vector<Expr> not_negative;                    ///< the same, implied by sizes that are expressions
  std::vector<std::vector<SpecValue>> alternatives;  ///< by argument of the schema; never empty
  std::vector<bool> from_spec;                       ///< by argument
  std::vector<bool> is_plain_int;  ///< by symbol: given to an argument that the schema calls `int`, not `SymInt`
  std::vector<std::string> argument_of_symbol;  ///< by symbol: the argument it is given to; "" = only sizes
  std::string unsupported;                      ///< why no arguments can be drawn: "argument g is a Generator"
  bool by_default = false;                      ///< no spec names the operator
  bool by_call = false;                         ///< only a call in a program does: the values of integers are not known
};

/// Of both kinds.
std::vector<Expr> conditions_of(const DrawnArguments& drawn);

/// What a tensor looks like when nobody says what it is: rank and dtype.
struct TensorGuess {
  int rank = 2;
  Dtype dtype = Dtype::kF32;
};

/// From the schema, and the spec's line where there is one (null: none).
///
/// Tensor: guess.dtype[s0,s1...], all tensors with the same symbols; Tensor?: None and that; Tensor[]: two of them;
/// SymInt and an int without default: a symbol of its own, from 1; `dim` and `axis`: 0 and -1; float, Scalar: 0.5;
/// bool: both; ScalarType?: None and f16; str: ""; int[]: [1]; anything with a default: that; other optionals: None.
DrawnArguments draw_arguments(const c10::FunctionSchema& schema, const OperatorSpec* spec,
                              const TensorGuess& guess = {});

/// Names of the spec's line that are no argument of the schema.
std::vector<std::string> unknown_arguments(const c10::FunctionSchema& schema, const OperatorSpec& spec);

/// The line of a spec that says the same: what `--init-spec` prints.
std::string spec_line(const c10::FunctionSchema& schema, const std::string& name, const DrawnArguments& drawn);

/// Of a line as ArgumentBuilder::text() gives it: integer tensors or numbers were drawn, which a kernel may take for
/// indices and counts.
bool values_may_matter(std::string_view arguments);
/// Integer tensors alone: in a call, numbers are known.
bool tensor_values_may_matter(std::string_view arguments);

/// The same arguments with zeros in integer tensors of which nothing is said: what indices, offsets and lengths may
/// always be. False: there are none.
bool with_zeros(DrawnArguments* drawn);

/// One choice for each argument: indices into `alternatives`, the first of each first. At most `limit`; `dropped`: how
/// many more there are.
std::vector<std::vector<int>> choose_alternatives(const DrawnArguments& drawn, size_t limit, size_t* dropped);

}  // namespace aotifuzz
