#pragma once

#include <optional>
#include <string_view>

namespace aotifuzz {

/// Results are drawn from a random stream, which eager and compiled code use differently. `training`: value of the op's
/// `train` / `training` argument (dropout and its kin are the identity without it).
bool is_random_op(std::string_view target, bool training);
/// Results are memory that nobody wrote: aten.empty and its kin.
bool is_uninitialized_op(std::string_view target);
/// Results share memory with the first argument (or may): views, contiguous, no-op casts.
bool is_view_op(std::string_view target);
/// One result element per element of the first argument, in the same row-major order, same value up to a cast.
bool keeps_values_in_order(std::string_view target);

/// An op one of whose results is a position along a dimension, chosen among equals at will.
struct ArgReduction {
  int index_result = 0;          ///< which result holds the positions
  int value_result = -1;         ///< which result holds the values found there; -1: none
  bool stable = false;           ///< exact ties keep their order: the position is defined
  bool whole_if_no_dim = false;  ///< without `dim` the position counts in the flattened operand
  bool distinct = false;         ///< positions along `dim` differ from each other (sort, topk)
  int64_t default_dim = -1;      ///< when `dim` is not given
};
std::optional<ArgReduction> arg_reduction(std::string_view target);

}  // namespace aotifuzz
