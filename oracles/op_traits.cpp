#include "oracles/op_traits.h"

#include <algorithm>
#include <iterator>

#include "package/op_name.h"

namespace aotifuzz {
namespace {

constexpr std::string_view kRandom[] = {
    "aten.rand",
    "aten.randn",
    "aten.rand_like",
    "aten.randn_like",
    "aten.randint",
    "aten.randint_like",
    "aten.randperm",
    "aten.normal",
    "aten.normal_functional",
    "aten.bernoulli",
    "aten.multinomial",
    "aten.uniform",
    "aten.exponential",
    "aten.cauchy",
    "aten.log_normal",
    "aten.geometric",
    "aten.random",
    "aten.poisson",
    "aten.binomial",
    "aten._standard_gamma",
    "aten._sample_dirichlet",
    "aten.rrelu_with_noise",
    "aten.rrelu_with_noise_functional",
    "prims.philox_rand",
    "prims.inductor_random",
    "prims.inductor_seed",
};

/// Random only while training.
constexpr std::string_view kRandomInTraining[] = {
    "aten.dropout", "aten.native_dropout",        "aten.feature_dropout", "aten.alpha_dropout",
    "aten.rrelu",   "aten.feature_alpha_dropout", "aten._fused_dropout",
};

constexpr std::string_view kUninitialized[] = {
    "aten.empty",          "aten.empty_like",        "aten.new_empty",
    "aten.empty_strided",  "aten.new_empty_strided", "aten.empty_permuted",
    "prims.empty_strided", "prims.empty_permuted",
};

constexpr std::string_view kViews[] = {
    "aten.view",
    "aten._unsafe_view",
    "aten.reshape",
    "aten._reshape_alias",
    "aten.permute",
    "aten.transpose",
    "aten.t",
    "aten.numpy_T",
    "aten.mT",
    "aten.adjoint",
    "aten.swapaxes",
    "aten.movedim",
    "aten.moveaxis",
    "aten.squeeze",
    "aten.unsqueeze",
    "aten.expand",
    "aten.expand_as",
    "aten.broadcast_to",
    "aten.flatten",
    "aten.unflatten",
    "aten.view_as",
    "aten.reshape_as",
    "aten.slice",
    "aten.select",
    "aten.narrow",
    "aten.split",
    "aten.split_with_sizes",
    "aten.chunk",
    "aten.unbind",
    "aten.tensor_split",
    "aten.diagonal",
    "aten.as_strided",
    "aten.unfold",
    "aten.view_as_real",
    "aten.view_as_complex",
    "aten.real",
    "aten.imag",
    "aten.conj",
    "aten._conj",
    "aten.detach",
    "aten.alias",
    "aten.contiguous",
    "aten.to",
    "aten.type_as",
    "aten.lift_fresh",
    "aten.dropout",
    "aten.hsplit",
    "aten.vsplit",
    "aten.dsplit",
    "aten.resolve_conj",
    "aten.resolve_neg",
};

constexpr std::string_view kInOrder[] = {
    "aten.view",      "aten._unsafe_view", "aten.reshape",         "aten._reshape_alias", "aten.squeeze",
    "aten.unsqueeze", "aten.flatten",      "aten.unflatten",       "aten.view_as",        "aten.reshape_as",
    "aten.detach",    "aten.alias",        "aten.clone",           "aten.contiguous",     "aten.to",
    "aten._to_copy",  "aten.lift_fresh",   "aten.lift_fresh_copy",
};

template <size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool is_random_op(std::string_view target, bool training) {
  const std::string_view base = op_base(target);
  return contains(kRandom, base) || (training && contains(kRandomInTraining, base));
}

bool is_uninitialized_op(std::string_view target) { return contains(kUninitialized, op_base(target)); }

bool is_view_op(std::string_view target) { return contains(kViews, op_base(target)); }

bool keeps_values_in_order(std::string_view target) {
  const std::string_view base = op_base(target);
  return contains(kInOrder, base) && !(base == "aten.view" && op_overload(target) == "dtype");
}

std::optional<ArgReduction> arg_reduction(std::string_view target) {
  const std::string_view base = op_base(target);
  const std::string_view overload = op_overload(target);
  ArgReduction info;
  if (base == "aten.argmax" || base == "aten.argmin") {
    info.whole_if_no_dim = true;
    return info;
  }
  info.index_result = 1;
  info.value_result = 0;
  if ((base == "aten.max" || base == "aten.min" || base == "aten.median" || base == "aten.nanmedian") &&
      overload == "dim")
    return info;
  if (base == "aten.kthvalue" || base == "aten.mode" || base == "aten.cummax" || base == "aten.cummin") return info;
  if (base == "aten.topk" || base == "aten.sort") {
    info.distinct = true;
    info.stable = overload == "stable";  // the argument `stable` decides; see program_facts_builder
    return info;
  }
  if (base == "aten.argsort" || base == "aten.msort") {
    if (base == "aten.msort") return std::nullopt;  // values only
    info.index_result = 0;
    info.value_result = -1;
    info.distinct = true;
    info.stable = overload == "stable";
    return info;
  }
  return std::nullopt;
}

}  // namespace aotifuzz
