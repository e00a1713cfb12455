#include "oracles/rounding_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <unordered_map>

#include "oracles/exact_ops.h"
#include "package/op_name.h"

namespace aotifuzz {
namespace {

using enum RoundingClass;

// Sources, referred to by the rows:
constexpr std::string_view kIeee = "IEEE 754: correctly rounded";
constexpr std::string_view kSleef1 = "Sleef u10 functions: 1 ulp = 2 u, once on each side";
constexpr std::string_view kSleef35 = "Sleef u35 functions: 3.5 ulp = 7 u";
constexpr std::string_view kSpecial = "c10 / Cephes polynomials in float: a few ulp, measured <= 8";
constexpr std::string_view kDecomposed = "Inductor decomposition: two to four correctly rounded steps";
constexpr std::string_view kSum = "ATen cascade_sum and Inductor's vectorised accumulators: Higham 2002, section 4.2";
constexpr std::string_view kGemm = "inner product in any order: Higham 2002, section 3.1";
constexpr std::string_view kFloorRemainder =
    "Inductor: a - floor(a / b) * b, so the error is that of a, not of the result";
constexpr std::string_view kExpMinusOne =
    "Inductor writes expm1(x) as exp(x) - 1; tolerable in an activation, not in expm1 itself";
constexpr std::string_view kErfPolynomial = "Vectorized<float>::erf: Abramowitz and Stegun 7.1.26, 1.5e-7 absolute";
constexpr std::string_view kExpU20 = "Vectorized::exp_u20: 20 ulp, used by softmax and attention kernels";
constexpr std::string_view kScatter = "adds to memory, one after the other, in any order";
constexpr std::string_view kLapack = "backward stable factorisation, n terms";
constexpr std::string_view kPoint = "the op's index or bit arithmetic is defined in its own dtype";
constexpr std::string_view kUnknownSource = "no row: conservative";

constexpr RoundingRow kRows[] = {
    // Correctly rounded basic operations. With `alpha` add and sub are two-term sums: see legal_sampler.
    {"aten.add", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.sub", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.rsub", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.mul", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.div", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.true_divide", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.floor_divide", kRounded, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.remainder", kTranscendental, 2, Growth::kNone, Length::kOne, AbsoluteScale::kInput, kFloorRemainder},
    {"aten.fmod", kRounded, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.sqrt", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.reciprocal", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.rsqrt", kRounded, 3, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.square", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.to", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.type_as", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten._to_copy", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.copy", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.addcmul", kContraction, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.addcdiv", kContraction, 3, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.lerp", kContraction, 3, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.arange", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kOutputMax, kDecomposed},
    {"aten.linspace", kRounded, 4, Growth::kNone, Length::kOne, AbsoluteScale::kOutputMax, kDecomposed},
    {"aten.logspace", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.full", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.full_like", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.new_full", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.scalar_tensor", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.fill", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.frac", kRounded, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.deg2rad", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.rad2deg", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.leaky_relu", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.prelu", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten._prelu_kernel", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.hardsigmoid", kContraction, 3, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kDecomposed},
    {"aten.hardswish", kContraction, 4, Growth::kNone, Length::kOne, AbsoluteScale::kInput, kDecomposed},
    {"aten.softshrink", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.ldexp", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.hypot", kRounded, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.dropout", kRounded, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},

    // Library functions.
    {"aten.exp", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.exp2", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.expm1", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.log", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.log2", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.log10", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.log1p", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.sin", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef35},
    {"aten.cos", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef35},
    {"aten.tan", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef35},
    {"aten.sinc", kTranscendental, 12, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSleef35},
    {"aten.asin", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.acos", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.atan", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.atan2", kTranscendental, 4, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.sinh", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.cosh", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.tanh", kTranscendental, 6, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.asinh", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.acosh", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.atanh", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.pow", kTranscendental, 6, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.float_power", kTranscendental, 6, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.sigmoid", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.silu", kTranscendental, 10, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.gelu", kTranscendental, 12, Growth::kNone, Length::kOne, AbsoluteScale::kInput, kDecomposed},
    {"aten.mish", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.elu", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kExpMinusOne},
    {"aten.selu", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kExpMinusOne},
    {"aten.celu", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kExpMinusOne},
    {"aten.softplus", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.log_sigmoid", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.log_sigmoid_forward", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.logit", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kDecomposed},
    {"aten.logaddexp", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kDecomposed},
    {"aten.logaddexp2", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kDecomposed},
    {"aten.xlogy", kTranscendental, 6, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.erf", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kErfPolynomial},
    {"aten.erfc", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.erfinv", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSpecial},
    {"aten.lgamma", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.digamma", kTranscendental, 32, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.polygamma", kTranscendental, 32, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.i0", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSpecial},
    {"aten.special_i0e", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSpecial},
    {"aten.special_i1", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSpecial},
    {"aten.special_i1e", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSpecial},
    {"aten.special_bessel_j0", kTranscendental, 32, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.special_bessel_j1", kTranscendental, 32, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.special_erfcx", kTranscendental, 16, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSpecial},
    {"aten.special_ndtri", kTranscendental, 32, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.special_log_ndtr", kTranscendental, 32, Growth::kNone, Length::kOne, AbsoluteScale::kOne, kSpecial},
    {"aten.polar", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef35},
    {"aten.angle", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kSleef1},
    {"aten.sgn", kTranscendental, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},

    // Reductions.
    {"aten.sum", kContraction, 1, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.nansum", kContraction, 1, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.mean", kContraction, 2, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.nanmean", kContraction, 2, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.prod", kContraction, 1, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.var", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.std", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.var_mean", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.std_mean", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.norm", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.linalg_vector_norm", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.linalg_norm", kContraction, 8, Growth::kSequential, Length::kAll, AbsoluteScale::kNone, kLapack},
    {"aten.logsumexp", kContraction, 24, Growth::kTree, Length::kReduced, AbsoluteScale::kOne, kExpU20},
    {"aten.softmax", kContraction, 48, Growth::kTree, Length::kDim, AbsoluteScale::kNone, kExpU20},
    {"aten._softmax", kContraction, 48, Growth::kTree, Length::kDim, AbsoluteScale::kNone, kExpU20},
    {"aten._safe_softmax", kContraction, 48, Growth::kTree, Length::kDim, AbsoluteScale::kNone, kExpU20},
    {"aten.log_softmax", kContraction, 24, Growth::kTree, Length::kDim, AbsoluteScale::kOne, kExpU20},
    {"aten._log_softmax", kContraction, 24, Growth::kTree, Length::kDim, AbsoluteScale::kOne, kExpU20},
    {"aten.cumsum", kContraction, 1, Growth::kSequential, Length::kDim, AbsoluteScale::kNone, kScatter},
    {"aten.cumprod", kContraction, 1, Growth::kSequential, Length::kDim, AbsoluteScale::kNone, kScatter},
    {"aten.logcumsumexp", kContraction, 24, Growth::kSequential, Length::kDim, AbsoluteScale::kOne, kExpU20},
    {"aten.cumulative_trapezoid", kContraction, 4, Growth::kSequential, Length::kAll, AbsoluteScale::kNone, kScatter},
    {"aten.trapezoid", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.trace", kContraction, 1, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.dist", kContraction, 4, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.cosine_similarity", kContraction, 8, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.pairwise_distance", kContraction, 8, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.cdist", kContraction, 8, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten._cdist_forward", kContraction, 8, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.corrcoef", kContraction, 16, Growth::kSequential, Length::kAll, AbsoluteScale::kOne, kGemm},
    {"aten.cov", kContraction, 8, Growth::kSequential, Length::kAll, AbsoluteScale::kNone, kGemm},
    {"aten.cross", kContraction, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.linalg_cross", kContraction, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},

    // Matrix products and convolutions.
    {"aten.mm", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.bmm", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.mv", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.dot", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.vdot", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.inner", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.outer", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.ger", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.matmul", kContraction, 1, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.linear", kContraction, 2, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.addmm", kContraction, 2, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.addmv", kContraction, 2, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.addr", kContraction, 2, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.baddbmm", kContraction, 2, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.addbmm", kContraction, 2, Growth::kSequential, Length::kAll, AbsoluteScale::kNone, kGemm},
    {"aten.einsum", kContraction, 2, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.tensordot", kContraction, 2, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.bilinear", kContraction, 4, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.kron", kRounded, 1, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee},
    {"aten.conv1d", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.conv2d", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.conv3d", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.convolution", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten._convolution", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.conv_transpose1d", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.conv_transpose2d", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.conv_transpose3d", kContraction, 2, Growth::kSequential, Length::kConv, AbsoluteScale::kNone, kGemm},
    {"aten.scaled_dot_product_attention", kContraction, 64, Growth::kSequential, Length::kAttention,
     AbsoluteScale::kNone, kExpU20},
    {"aten._scaled_dot_product_flash_attention_for_cpu", kContraction, 64, Growth::kSequential, Length::kAttention,
     AbsoluteScale::kNone, kExpU20},
    {"aten.lstm", kContraction, 64, Growth::kSequential, Length::kAll, AbsoluteScale::kOne, kGemm},
    {"aten.gru", kContraction, 64, Growth::kSequential, Length::kAll, AbsoluteScale::kOne, kGemm},
    {"aten.rnn_tanh", kContraction, 64, Growth::kSequential, Length::kAll, AbsoluteScale::kOne, kGemm},

    // Normalisation.
    {"aten.layer_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.native_layer_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.rms_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten._fused_rms_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.group_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.native_group_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.instance_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.batch_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten.native_batch_norm", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten._native_batch_norm_legit", kContraction, 8, Growth::kTree, Length::kNormalized, AbsoluteScale::kNone, kSum},
    {"aten._native_batch_norm_legit_no_training", kContraction, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone,
     kDecomposed},
    {"aten.normalize", kContraction, 8, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.renorm", kContraction, 8, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},

    // Pooling, interpolation, losses.
    {"aten.avg_pool1d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.avg_pool2d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.avg_pool3d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.adaptive_avg_pool1d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.adaptive_avg_pool2d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten._adaptive_avg_pool2d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.adaptive_avg_pool3d", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    // The interpolation weight is a coordinate's fraction: its error is the coordinate's, so it grows with the size.
    {"aten.upsample_linear1d", kContraction, 8, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kDecomposed},
    {"aten.upsample_bilinear2d", kContraction, 8, Growth::kSequential, Length::kLast, AbsoluteScale::kNone,
     kDecomposed},
    {"aten.upsample_trilinear3d", kContraction, 8, Growth::kSequential, Length::kLast, AbsoluteScale::kNone,
     kDecomposed},
    {"aten.upsample_bicubic2d", kContraction, 16, Growth::kSequential, Length::kLast, AbsoluteScale::kNone,
     kDecomposed},
    {"aten._upsample_bilinear2d_aa", kContraction, 16, Growth::kSequential, Length::kLast, AbsoluteScale::kNone,
     kDecomposed},
    {"aten._upsample_bicubic2d_aa", kContraction, 16, Growth::kSequential, Length::kLast, AbsoluteScale::kNone,
     kDecomposed},
    {"aten.grid_sampler", kContraction, 16, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kDecomposed},
    {"aten.grid_sampler_2d", kContraction, 16, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kDecomposed},
    {"aten.affine_grid_generator", kContraction, 8, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kDecomposed},
    {"aten.mse_loss", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.l1_loss", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.smooth_l1_loss", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.huber_loss", kContraction, 4, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.nll_loss", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.nll_loss_nd", kContraction, 3, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kSum},
    {"aten.cross_entropy_loss", kContraction, 24, Growth::kTree, Length::kAll, AbsoluteScale::kOne, kExpU20},
    {"aten.binary_cross_entropy", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kOne, kSleef1},
    {"aten.binary_cross_entropy_with_logits", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kOne,
     kSleef1},
    {"aten.kl_div", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kOne, kSleef1},

    // Adds into memory.
    {"aten.index_add", kContraction, 1, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten.scatter_add", kContraction, 1, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten.scatter_reduce", kContraction, 2, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten.index_reduce", kContraction, 2, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten.index_put", kContraction, 1, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten._index_put_impl", kContraction, 1, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten.put", kContraction, 1, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten.bincount", kContraction, 1, Growth::kSequential, Length::kAll, AbsoluteScale::kNone, kScatter},
    {"aten.segment_reduce", kContraction, 2, Growth::kSequential, Length::kAll, AbsoluteScale::kNone, kScatter},
    {"aten.embedding_bag", kContraction, 2, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten._embedding_bag", kContraction, 2, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone, kScatter},
    {"aten._embedding_bag_forward_only", kContraction, 2, Growth::kSequential, Length::kScattered, AbsoluteScale::kNone,
     kScatter},
    {"aten.col2im", kContraction, 1, Growth::kTree, Length::kReduced, AbsoluteScale::kNone, kScatter},

    // Transforms and linear algebra: both sides call the same library, on inputs that may differ by rounding.
    {"aten.fft_fft", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_ifft", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_rfft", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_irfft", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_fft2", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_ifft2", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_rfft2", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_irfft2", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_fftn", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.fft_ifftn", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten._fft_c2c", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten._fft_r2c", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten._fft_c2r", kContraction, 16, Growth::kTree, Length::kAll, AbsoluteScale::kNone, kSum},
    {"aten.inverse", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_inv", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_inv_ex", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_solve", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_det", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_cholesky", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_qr", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_svd", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},
    {"aten.linalg_eigh", kContraction, 4, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kLapack},

    // Run in the program's own dtype.
    {"aten.upsample_nearest1d", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.upsample_nearest2d", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.upsample_nearest3d", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten._upsample_nearest_exact1d", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten._upsample_nearest_exact2d", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten._upsample_nearest_exact3d", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.nextafter", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.frexp", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.histc", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.view_dtype", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten._scaled_mm", kNative, 16, Growth::kSequential, Length::kLast, AbsoluteScale::kNone, kGemm},
    {"aten.quantize_per_tensor", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
    {"aten.fake_quantize_per_tensor_affine", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint},
};

constexpr RoundingRow kExactRow{"", kExact, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee};
constexpr RoundingRow kViewDtypeRow{"aten.view", kNative, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kPoint};
constexpr RoundingRow kDivModeRow{"aten.div", kRounded, 0, Growth::kNone, Length::kOne, AbsoluteScale::kNone, kIeee};
constexpr RoundingRow kRoundDecimalsRow{"aten.round",         kRounded,   4, Growth::kNone, Length::kOne,
                                        AbsoluteScale::kNone, kDecomposed};
constexpr RoundingRow kUnknownAten{
    "", kContraction, 16, Growth::kSequential, Length::kAll, AbsoluteScale::kOutputMax, kUnknownSource};
constexpr RoundingRow kUnknownLibrary{
    "", kNative, 16, Growth::kSequential, Length::kAll, AbsoluteScale::kOutputMax, kUnknownSource};

const std::unordered_map<std::string_view, const RoundingRow*>& row_index() {
  static const auto* index = [] {
    auto* map = new std::unordered_map<std::string_view, const RoundingRow*>;
    for (const RoundingRow& row : kRows) map->emplace(row.op, &row);
    return map;
  }();
  return *index;
}

}  // namespace

const RoundingRow& rounding_row(std::string_view target, bool* known) {
  if (known) *known = true;
  target = short_target(target);
  const std::string_view base = op_base(target);
  const std::string_view overload = op_overload(target);
  if (base == "aten.view" && overload == "dtype") return kViewDtypeRow;
  if ((base == "aten.div" || base == "aten.divide") && overload.ends_with("_mode")) return kDivModeRow;
  if (base == "aten.round" && overload == "decimals") return kRoundDecimalsRow;
  const auto found = row_index().find(base);
  if (found != row_index().end()) return *found->second;
  if (is_exact_op(base)) return kExactRow;
  if (known) *known = false;
  return base.starts_with("aten.") || base.starts_with("prims.") ? kUnknownAten : kUnknownLibrary;
}

double growth_units(Growth growth, int64_t n) {
  const double terms = static_cast<double>(n < 1 ? 1 : n);
  switch (growth) {
    case Growth::kNone:
      return 0;
    case Growth::kTree:
      return terms / 16 + std::log2(terms + 1);
    case Growth::kSequential:
      return terms;
  }
  return terms;
}

bool accumulates_in_storage_dtype(const RoundingRow& row) {
  return row.length == Length::kScattered || row.cls == RoundingClass::kNative || row.source == kUnknownSource ||
         row.source == kDecomposed || row.source == kIeee || row.source == kExpU20 || row.length == Length::kNormalized;
}

bool squares_inputs(std::string_view target) {
  constexpr std::string_view kOps[] = {
      "aten.var",
      "aten.std",
      "aten.var_mean",
      "aten.std_mean",
      "aten.norm",
      "aten.linalg_vector_norm",
      "aten.linalg_norm",
      "aten.dist",
      "aten.cdist",
      "aten._cdist_forward",
      "aten.pairwise_distance",
      "aten.cosine_similarity",
      "aten.cov",
      "aten.corrcoef",
      "aten.layer_norm",
      "aten.native_layer_norm",
      "aten.rms_norm",
      "aten._fused_rms_norm",
      "aten.group_norm",
      "aten.native_group_norm",
      "aten.instance_norm",
      "aten.batch_norm",
      "aten.native_batch_norm",
      "aten._native_batch_norm_legit",
      "aten.normalize",
      "aten.renorm",
      "aten.mse_loss",
  };
  const std::string_view base = op_base(target);
  return std::find(std::begin(kOps), std::end(kOps), base) != std::end(kOps);
}

double nominal_units(const RoundingRow& row) {
  // 8 + 2 * units: what sums of a few hundred terms differ by in practice; longer ones go to the referee.
  return row.growth == Growth::kNone ? row.units : 8 + 2 * row.units;
}

}  // namespace aotifuzz
