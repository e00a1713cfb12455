#include "oracles/exact_ops.h"

#include <algorithm>
#include <iterator>

namespace aotifuzz {
namespace {

// Sorted, because it is searched by halves. clang-format would put each on a line of its own.
// clang-format off
constexpr std::string_view kOps[] = {
    "aten.__and__", "aten.__lshift__", "aten.__or__", "aten.__rshift__", "aten.__xor__", "aten._assert_async",
    "aten._assert_scalar", "aten._assert_tensor_metadata", "aten._conj", "aten._local_scalar_dense",
    "aten._pad_circular", "aten._reshape_alias", "aten._resize_output", "aten._unique2", "aten._unsafe_index",
    "aten._unsafe_masked_index", "aten._unsafe_view", "aten.abs", "aten.absolute", "aten.adaptive_max_pool1d",
    "aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d", "aten.adjoint", "aten.alias", "aten.all", "aten.allclose",
    "aten.alpha_dropout", "aten.amax", "aten.amin", "aten.aminmax", "aten.any", "aten.argmax", "aten.argmin",
    "aten.argsort", "aten.as_strided", "aten.as_strided_scatter", "aten.bernoulli", "aten.bitwise_and",
    "aten.bitwise_left_shift", "aten.bitwise_not", "aten.bitwise_or", "aten.bitwise_right_shift", "aten.bitwise_xor",
    "aten.block_diag", "aten.broadcast_to", "aten.bucketize", "aten.cartesian_prod", "aten.cat", "aten.ceil",
    "aten.channel_shuffle", "aten.chunk", "aten.clamp", "aten.clamp_max", "aten.clamp_min", "aten.clip", "aten.clone",
    "aten.combinations", "aten.complex", "aten.concat", "aten.conj", "aten.conj_physical", "aten.constant_pad_nd",
    "aten.contiguous", "aten.copysign", "aten.count_nonzero", "aten.cummax", "aten.cummin", "aten.detach", "aten.diag",
    "aten.diag_embed", "aten.diagonal", "aten.diagonal_scatter", "aten.dim", "aten.dsplit", "aten.embedding",
    "aten.empty", "aten.empty_like", "aten.empty_permuted", "aten.empty_strided", "aten.eq", "aten.equal",
    "aten.expand", "aten.expand_as", "aten.exponential", "aten.eye", "aten.feature_dropout", "aten.fix", "aten.flatten",
    "aten.flip", "aten.fliplr", "aten.flipud", "aten.floor", "aten.fmax", "aten.fmin", "aten.fractional_max_pool2d",
    "aten.gather", "aten.gcd", "aten.ge", "aten.gt", "aten.hardshrink", "aten.hardtanh", "aten.heaviside",
    "aten.histogram", "aten.hsplit", "aten.hstack", "aten.im2col", "aten.imag", "aten.index", "aten.index_copy",
    "aten.index_fill", "aten.index_select", "aten.is_nonzero", "aten.isclose", "aten.isfinite", "aten.isin",
    "aten.isinf", "aten.isnan", "aten.isneginf", "aten.isposinf", "aten.isreal", "aten.item", "aten.kthvalue",
    "aten.lcm", "aten.le", "aten.lift", "aten.lift_fresh", "aten.lift_fresh_copy", "aten.logical_and",
    "aten.logical_not", "aten.logical_or", "aten.logical_xor", "aten.lt", "aten.mT", "aten.masked_fill",
    "aten.masked_scatter", "aten.masked_select", "aten.max", "aten.max_pool1d", "aten.max_pool1d_with_indices",
    "aten.max_pool2d", "aten.max_pool2d_with_indices", "aten.max_pool3d", "aten.max_pool3d_with_indices",
    "aten.max_unpool2d", "aten.maximum", "aten.median", "aten.meshgrid", "aten.min", "aten.minimum", "aten.mode",
    "aten.moveaxis", "aten.movedim", "aten.msort", "aten.multinomial", "aten.nan_to_num", "aten.nanmedian",
    "aten.narrow", "aten.native_dropout", "aten.ne", "aten.neg", "aten.negative", "aten.new_empty",
    "aten.new_empty_strided", "aten.new_ones", "aten.new_zeros", "aten.nonzero", "aten.nonzero_static", "aten.normal",
    "aten.numel", "aten.numpy_T", "aten.one_hot", "aten.ones", "aten.ones_like", "aten.pad", "aten.permute",
    "aten.pixel_shuffle", "aten.pixel_unshuffle", "aten.positive", "aten.rand", "aten.rand_like", "aten.randint",
    "aten.randint_like", "aten.randn", "aten.randn_like", "aten.randperm", "aten.real", "aten.reflection_pad1d",
    "aten.reflection_pad2d", "aten.reflection_pad3d", "aten.relu", "aten.relu6", "aten.repeat",
    "aten.repeat_interleave", "aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d",
    "aten.reshape", "aten.reshape_as", "aten.resize", "aten.resolve_conj", "aten.resolve_neg", "aten.roll",
    "aten.rot90", "aten.round", "aten.rrelu", "aten.scatter", "aten.searchsorted", "aten.select", "aten.select_scatter",
    "aten.set", "aten.sign", "aten.signbit", "aten.size", "aten.slice", "aten.slice_scatter", "aten.sort", "aten.split",
    "aten.split_with_sizes", "aten.squeeze", "aten.stack", "aten.swapaxes", "aten.sym_constrain_range",
    "aten.sym_constrain_range_for_size", "aten.sym_numel", "aten.sym_size", "aten.sym_storage_offset",
    "aten.sym_stride", "aten.t", "aten.take", "aten.take_along_dim", "aten.tensor_split", "aten.threshold", "aten.tile",
    "aten.topk", "aten.transpose", "aten.tril", "aten.tril_indices", "aten.triu", "aten.triu_indices", "aten.trunc",
    "aten.unbind", "aten.unflatten", "aten.unfold", "aten.unfold_copy", "aten.uniform", "aten.unique_consecutive",
    "aten.unique_dim", "aten.unsafe_chunk", "aten.unsafe_split", "aten.unsafe_split_with_sizes", "aten.unsqueeze",
    "aten.view", "aten.view_as", "aten.view_as_complex", "aten.view_as_real", "aten.vsplit", "aten.vstack",
    "aten.where", "aten.zero", "aten.zeros", "aten.zeros_like",
};
// clang-format on
static_assert(std::is_sorted(std::begin(kOps), std::end(kOps)));

}  // namespace

bool is_exact_op(std::string_view base) { return std::binary_search(std::begin(kOps), std::end(kOps), base); }

}  // namespace aotifuzz
