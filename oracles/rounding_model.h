#pragma once

#include <cstdint>
#include <string_view>

namespace aotifuzz {

/// How the result of an op may legally differ from the exact one. u below is the unit roundoff of the *program's*
/// dtype.
enum class RoundingClass : uint8_t {
  kExact,    ///< moves or selects values, compares, or is defined exactly (floor, views, integer ops): no rounding
  kRounded,  ///< correctly rounded within `units` u; a result that the dtype can hold exactly stays exact
  kTranscendental,  ///< library function: within `units` u, exact only at 0, 1 and -1
  kContraction,     ///< sums of many terms in any order: inputs move by growth(n) u (backward error), then the result
                    ///< rounds
  kNative,          ///< means something else in another dtype: the referee runs it in the program's own dtype
};

/// Longest chain of dependent additions as a function of the number of terms n.
enum class Growth : uint8_t {
  kNone,
  kTree,        ///< blocked or vectorised sums: n/16 + log terms
  kSequential,  ///< one accumulator: n
};

/// Where the number of terms is read from at run time.
enum class Length : uint8_t {
  kOne,
  kReduced,     ///< elements of the first tensor / elements of the result
  kDim,         ///< size of argument `dim` of the first tensor
  kLast,        ///< last size of the first matrix argument
  kConv,        ///< weight elements per output channel
  kNormalized,  ///< elements that share one mean and variance
  kAttention,   ///< head size + number of keys
  kScattered,   ///< elements of the index or source: all could meet in one place
  kAll,         ///< elements of the largest tensor argument
};

/// An absolute part of the output's error, for results that lose leading digits to cancellation inside the op.
enum class AbsoluteScale : uint8_t { kNone, kOne, kInput, kOutputMax };

struct RoundingRow {
  std::string_view op;  ///< "aten.add": op_base()
  RoundingClass cls;
  double units;  ///< relative output error, in u
  Growth growth = Growth::kNone;
  Length length = Length::kOne;
  AbsoluteScale absolute = AbsoluteScale::kNone;  ///< times `units` u
  std::string_view source;                        ///< where the numbers come from
};

/// The row of `target` (short_target form, any overload). Unknown: a contraction over all elements with a conservative
/// factor for ATen, kNative for other libraries; `known` (optional) says which.
const RoundingRow& rounding_row(std::string_view target, bool* known = nullptr);

/// Terms that one accumulator may see: the `g` by which inputs move coherently, in u.
double growth_units(Growth growth, int64_t n);

/// 16-bit contractions accumulate in float32 on both sides, except where a row is kScattered: adds go to memory.
bool accumulates_in_storage_dtype(const RoundingRow& row);

/// Variances, norms and distances square their inputs: those overflow past the square root of the range.
bool squares_inputs(std::string_view target);

/// Nominal units for ProgramFacts::rounding_budget, where the lengths are not known yet.
double nominal_units(const RoundingRow& row);

}  // namespace aotifuzz
