#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "oracles/noise_stream.h"
#include "oracles/rounding_model.h"

namespace aotifuzz {

/// How one op's results are brought back to the program's dtype in a sampled run.
enum class RoundingStyle : uint8_t {
  kNearest,        ///< to nearest, no other error: what eager does
  kKeepFloat32,    ///< 16-bit and 8-bit values rounded to float32 only: what Inductor does inside a kernel
  kRandom,         ///< each element up or down at random, plus the row's further units
  kRandomFloat32,  ///< the same on the float32 grid for 16-bit and 8-bit values
};

/// Result of an op whose exact value is `exact` (float64 or complex128, any strides): a fresh dense tensor within what
/// `row` allows for `dtype`. A kRounded result that the dtype holds exactly stays as it is, so integers in floating
/// tensors stay integers. `scale`: magnitudes for the absolute part, broadcastable, or undefined.
/// Returns an undefined tensor when nothing moved.
at::Tensor noisy_result(const at::Tensor& exact, Dtype dtype, const RoundingRow& row, RoundingStyle style,
                        const at::Tensor& scale, NoiseStream& noise);

/// Copy of an input of a contraction over `terms` terms, moved elementwise by at most (2 + sqrt(n)) u |x| independently
/// and growth(n) u |x| in blocks of one random length (rounding errors of one accumulator have runs of one sign).
at::Tensor noisy_operand(const at::Tensor& exact, Dtype dtype, const RoundingRow& row, int64_t terms,
                         NoiseStream& noise);

/// True when every partial sum of `terms` products of elements of these tensors is an integer that `dtype`'s
/// accumulator holds exactly: then no order of summation rounds at all.
bool sums_are_exact(const std::vector<at::Tensor>& operands, Dtype dtype, int64_t terms);

/// True when some order of summing `terms` products of these tensors may pass the end of the range on the way, though
/// the result does not: `power` 2 when each tensor meets itself (variances, norms). NaN and infinities do not count.
bool sums_may_overflow(const std::vector<at::Tensor>& operands, Dtype dtype, int64_t terms, int power);

}  // namespace aotifuzz
