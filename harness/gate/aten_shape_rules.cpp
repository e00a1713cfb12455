#include "gate/aten_shape_rules.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "gate/aten_example.h"
#include "gate/aten_reduction_rules.h"
#include "gate/symbolic_tensor.h"

namespace aotifuzz {
namespace {

SymSizes sizes_of(const at::Tensor& tensor) { return tensor.sym_sizes().vec(); }

/// A view of `base` with other sizes and strides.
at::Tensor view_of(const at::Tensor& base, const SymSizes& sizes, const SymSizes& strides, const c10::SymInt& offset) {
  return SymbolicTensor::listening(base.as_strided_symint(sizes, strides, offset));
}

bool matrix_product(AtenCall& call, const at::Tensor& a, const at::Tensor& b) {
  if (a.dim() < 2 || b.dim() < 2) return false;
  TORCH_CHECK(a.sym_size(-1).sym_eq(b.sym_size(-2)).expect_true(__FILE__, __LINE__),
              "sizes of a product differ: ", a.sym_size(-1), " and ", b.sym_size(-2));
  const SymSizes left = sizes_of(a), right = sizes_of(b);
  SymSizes out = broadcast({left.begin(), left.end() - 2}, {right.begin(), right.end() - 2});
  out.push_back(a.sym_size(-2));
  out.push_back(b.sym_size(-1));
  return call.returns_dense(std::move(out), a.scalar_type());
}

bool product_rule(AtenCall& call) { return matrix_product(call, call.tensor(0), call.tensor(1)); }
bool added_product_rule(AtenCall& call) { return matrix_product(call, call.tensor(1), call.tensor(2)); }

bool linear_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0), weight = call.tensor(1);
  if (x.dim() < 1 || weight.dim() != 2) return false;
  TORCH_CHECK(x.sym_size(-1).sym_eq(weight.sym_size(1)).expect_true(__FILE__, __LINE__), "sizes of linear differ");
  SymSizes out = sizes_of(x);
  out.back() = weight.sym_size(0);
  return call.returns_dense(std::move(out), x.scalar_type());
}

bool view_rule(AtenCall& call) {
  const at::Tensor base = call.tensor(0);
  if (!TORCH_GUARD_OR_FALSE(base.sym_is_contiguous())) return false;
  SymSizes sizes = call.sizes(1);
  c10::SymInt known = 1;
  int64_t inferred = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto number = sizes[i].maybe_as_int();
    if (number && *number == -1)
      inferred = static_cast<int64_t>(i);
    else
      known = known * sizes[i];
  }
  if (inferred >= 0)
    sizes[inferred] = base.sym_numel() / known;
  else
    TORCH_CHECK(known.sym_eq(base.sym_numel()).expect_true(__FILE__, __LINE__), "a view of another number of elements");
  return call.returns({view_of(base, sizes, SymbolicTensor::dense_strides(sizes), base.sym_storage_offset())});
}

bool flatten_rule(AtenCall& call) {
  const at::Tensor base = call.tensor(0);
  if (base.dim() == 0 || !TORCH_GUARD_OR_FALSE(base.sym_is_contiguous())) return false;
  const int64_t first = wrapped(call.at(1).toInt(), base.dim()), last = wrapped(call.at(2).toInt(), base.dim());
  SymSizes sizes;
  for (int64_t d = 0; d < base.dim(); ++d) {
    if (d > first && d <= last)
      sizes.back() = sizes.back() * base.sym_size(d);
    else
      sizes.push_back(base.sym_size(d));
  }
  return call.returns({view_of(base, sizes, SymbolicTensor::dense_strides(sizes), base.sym_storage_offset())});
}

bool cat_rule(AtenCall& call) {
  const auto tensors = call.at(0).toTensorVector();
  if (tensors.empty()) return false;
  SymSizes out = sizes_of(tensors[0]);
  const int64_t dimension = wrapped(call.at(1).toInt(), tensors[0].dim());
  at::ScalarType dtype = tensors[0].scalar_type();
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].dim() != tensors[0].dim()) return false;
    out[dimension] = out[dimension] + tensors[i].sym_size(dimension);
    dtype = c10::promoteTypes(dtype, tensors[i].scalar_type());
  }
  return call.returns_dense(std::move(out), dtype);
}

bool stack_rule(AtenCall& call) {
  const auto tensors = call.at(0).toTensorVector();
  if (tensors.empty()) return false;
  SymSizes out = sizes_of(tensors[0]);
  const int64_t dimension = wrapped(call.at(1).toInt(), tensors[0].dim() + 1);
  out.insert(out.begin() + dimension, static_cast<int64_t>(tensors.size()));
  return call.returns_dense(std::move(out), tensors[0].scalar_type());
}

bool expand_rule(AtenCall& call) {
  const at::Tensor base = call.tensor(0);
  SymSizes sizes = call.sizes(1), strides(sizes.size());
  const int64_t added = static_cast<int64_t>(sizes.size()) - base.dim();
  TORCH_CHECK(added >= 0, "expand to fewer dimensions");
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (d < added) {
      strides[d] = 0;
      continue;
    }
    const c10::SymInt from = base.sym_size(d - added);
    const auto number = sizes[d].maybe_as_int();
    if ((number && *number == -1) || TORCH_GUARD_OR_FALSE(from.sym_eq(sizes[d]))) {
      sizes[d] = from;
      strides[d] = base.sym_stride(d - added);
    } else {
      // Equal or 1: which of the two is not asked unless nobody knows.
      const bool one = from.sym_eq(1).guard_bool(__FILE__, __LINE__);
      strides[d] = one ? c10::SymInt(0) : base.sym_stride(d - added);
    }
  }
  return call.returns({view_of(base, sizes, strides, base.sym_storage_offset())});
}

/// Same sizes, dense; dtype of an optional argument.
template <size_t dtype_argument>
bool same_sizes_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns_dense(sizes_of(x), call.dtype(dtype_argument).value_or(x.scalar_type()));
}
bool sort_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  return call.returns(
      {SymbolicTensor::make_dense(sizes_of(x), x.scalar_type()), SymbolicTensor::make_dense(sizes_of(x), at::kLong)});
}
bool topk_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  if (x.dim() == 0) return false;
  SymSizes out = sizes_of(x);
  out[wrapped(call.at(2).toInt(), x.dim())] = call.size(1);
  return call.returns({SymbolicTensor::make_dense(out, x.scalar_type()), SymbolicTensor::make_dense(out, at::kLong)});
}

/// A bound of a slice as Python reads it: from the end when negative, clamped to the size.
c10::SymInt slice_bound(const c10::SymInt& bound, const c10::SymInt& size) {
  const auto number = bound.maybe_as_int();
  c10::SymInt at = bound;
  if (number ? *number < 0 : bound.sym_lt(0).guard_bool(__FILE__, __LINE__)) at = at + size;
  if (number && *number == 0) return 0;
  return at.max(0).min(size);
}

at::Tensor sliced(const at::Tensor& base, int64_t dimension, const c10::SymInt& begin, const c10::SymInt& length,
                  int64_t step) {
  SymSizes sizes = sizes_of(base), strides = base.sym_strides().vec();
  const c10::SymInt offset = base.sym_storage_offset() + begin * strides[dimension];
  sizes[dimension] = length;
  strides[dimension] = strides[dimension] * step;
  return view_of(base, sizes, strides, offset);
}

bool slice_rule(AtenCall& call) {
  const at::Tensor base = call.tensor(0);
  const int64_t dimension = wrapped(call.at(1).toInt(), base.dim());
  const c10::SymInt size = base.sym_size(dimension);
  const c10::SymInt begin = call.at(2).isNone() ? c10::SymInt(0) : slice_bound(call.size(2), size);
  const auto end_number = call.at(3).isNone() ? std::optional<int64_t>(INT64_MAX) : call.size(3).maybe_as_int();
  const c10::SymInt end = end_number && *end_number == INT64_MAX ? size : slice_bound(call.size(3), size);
  const auto step = call.size(4).maybe_as_int();
  if (!step || *step < 1) return false;
  const c10::SymInt length = (*step == 1 ? end - begin : (end - begin + (*step - 1)) / *step);
  return call.returns(
      {sliced(base, dimension, begin, begin.maybe_as_int() == 0 && *step == 1 ? length : length.max(0), *step)});
}

bool narrow_rule(AtenCall& call) {
  const at::Tensor base = call.tensor(0);
  return call.returns({sliced(base, wrapped(call.at(1).toInt(), base.dim()), call.size(2), call.size(3), 1)});
}

bool permute_rule(AtenCall& call) {
  const at::Tensor base = call.tensor(0);
  SymSizes sizes, strides;
  for (const int64_t d : call.at(1).toIntVector()) {
    sizes.push_back(base.sym_size(wrapped(d, base.dim())));
    strides.push_back(base.sym_stride(wrapped(d, base.dim())));
  }
  return call.returns({view_of(base, sizes, strides, base.sym_storage_offset())});
}

bool index_select_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0), index = call.tensor(2);
  if (x.dim() == 0) return false;
  SymSizes out = sizes_of(x);
  out[wrapped(call.at(1).toInt(), x.dim())] = index.sym_numel();
  return call.returns_dense(std::move(out), x.scalar_type());
}
bool gather_rule(AtenCall& call) { return call.returns_dense(sizes_of(call.tensor(2)), call.tensor(0).scalar_type()); }
bool embedding_rule(AtenCall& call) {
  SymSizes out = sizes_of(call.tensor(1));
  out.push_back(call.tensor(0).sym_size(1));
  return call.returns_dense(std::move(out), call.tensor(0).scalar_type());
}

bool repeat_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  SymSizes out = call.sizes(1);
  const size_t added = out.size() - static_cast<size_t>(x.dim());
  for (size_t d = added; d < out.size(); ++d) out[d] = out[d] * x.sym_size(static_cast<int64_t>(d - added));
  return call.returns_dense(std::move(out), x.scalar_type());
}

bool pad_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  SymSizes out = sizes_of(x);
  const SymSizes pad = call.sizes(1);
  for (size_t i = 0; i + 1 < pad.size() && i / 2 < out.size(); i += 2) {
    c10::SymInt& size = out[out.size() - 1 - i / 2];
    size = size + pad[i] + pad[i + 1];
  }
  return call.returns_dense(std::move(out), x.scalar_type());
}

at::ScalarType default_dtype(std::optional<at::ScalarType> asked) {
  return asked.value_or(c10::typeMetaToScalarType(c10::get_default_dtype()));
}
bool full_rule(AtenCall& call) {
  const c10::Scalar value = call.at(1).toScalar();
  const at::ScalarType inferred = value.isBoolean()         ? at::kBool
                                  : value.isIntegral(false) ? at::kLong
                                                            : default_dtype({});
  return call.returns_dense(call.sizes(0), call.dtype(2).value_or(inferred));
}
bool filled_rule(AtenCall& call) { return call.returns_dense(call.sizes(0), default_dtype(call.dtype(1))); }
/// new_zeros(self, size, dtype...) and new_full(self, size, value, dtype...).
template <size_t dtype_argument>
bool new_filled_rule(AtenCall& call) {
  return call.returns_dense(call.sizes(1), call.dtype(dtype_argument).value_or(call.tensor(0).scalar_type()));
}

bool range_rule(AtenCall& call) {
  const bool from_zero = call.op().schema().arguments()[0].name() == "end";
  const auto length = [](const c10::IValue& v) { return v.isSymInt() ? v.toSymInt() : c10::SymInt(v.toInt()); };
  const c10::IValue& end = call.at(from_zero ? 0 : 1);
  if (!(end.isInt() || end.isSymInt())) return false;
  c10::SymInt count = length(end);
  if (!from_zero) {
    if (!(call.at(0).isInt() || call.at(0).isSymInt()) || call.count() > 6) return false;
    count = count - length(call.at(0));
  }
  return call.returns_dense({count}, call.dtype(from_zero ? 1 : 2).value_or(at::kLong));
}

bool convert_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  const at::ScalarType wanted = call.dtype(1).value_or(x.scalar_type());
  const bool copy = call.op().operator_name().name == "aten::_to_copy" || call.truth(3);
  if (wanted == x.scalar_type() && !copy) return call.returns({x});
  // Keeps dense strides, whatever their order.
  if (TORCH_GUARD_OR_FALSE(x.sym_is_contiguous())) return call.returns_dense(sizes_of(x), wanted);
  return call.returns({SymbolicTensor::make(sizes_of(x), x.sym_strides().vec(), 0, wanted)});
}

bool chunk_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  const auto sizes = call.at(1).isList() ? std::optional(call.sizes(1)) : std::nullopt;
  if (!sizes || x.dim() == 0) return false;
  const int64_t dimension = wrapped(call.at(2).toInt(), x.dim());
  std::vector<at::Tensor> parts;
  c10::SymInt begin = 0;
  for (const c10::SymInt& size : *sizes) {
    parts.push_back(sliced(x, dimension, begin, size, 1));
    begin = begin + size;
  }
  return call.returns_list(parts);
}

/// empty_like(), zeros_like() and the like: strides as the tensor's where it is dense in some order.
bool like_rule(AtenCall& call) {
  const at::Tensor x = call.tensor(0);
  const at::Tensor like = example_result(call);
  SymSizes sizes = sizes_of(x), strides = strides_ordered_as(sizes, like);
  return call.returns({SymbolicTensor::make(std::move(sizes), std::move(strides), 0, like.scalar_type())});
}

AtenRuleTable with(AtenRuleTable all, const AtenRuleTable& more) {
  all.insert(more.begin(), more.end());
  return all;
}

}  // namespace

const AtenRuleTable& aten_shape_rules() {
  static const AtenRuleTable table = with(aten_reduction_rules(), {
                                                                      {"aten::matmul", product_rule},
                                                                      {"aten::mm", product_rule},
                                                                      {"aten::bmm", product_rule},
                                                                      {"aten::addmm", added_product_rule},
                                                                      {"aten::linear", linear_rule},
                                                                      {"aten::view", view_rule},
                                                                      {"aten::reshape", view_rule},
                                                                      {"aten::_unsafe_view", view_rule},
                                                                      {"aten::flatten.using_ints", flatten_rule},
                                                                      {"aten::cat", cat_rule},
                                                                      {"aten::stack", stack_rule},
                                                                      {"aten::expand", expand_rule},
                                                                      {"aten::softmax.int", same_sizes_rule<2>},
                                                                      {"aten::log_softmax.int", same_sizes_rule<2>},
                                                                      {"aten::_softmax", same_sizes_rule<9>},
                                                                      {"aten::_log_softmax", same_sizes_rule<9>},
                                                                      {"aten::sort", sort_rule},
                                                                      {"aten::topk", topk_rule},
                                                                      {"aten::slice.Tensor", slice_rule},
                                                                      {"aten::narrow", narrow_rule},
                                                                      {"aten::permute", permute_rule},
                                                                      {"aten::index_select", index_select_rule},
                                                                      {"aten::gather", gather_rule},
                                                                      {"aten::embedding", embedding_rule},
                                                                      {"aten::repeat", repeat_rule},
                                                                      {"aten::constant_pad_nd", pad_rule},
                                                                      {"aten::full", full_rule},
                                                                      {"aten::ones", filled_rule},
                                                                      {"aten::new_zeros", new_filled_rule<2>},
                                                                      {"aten::new_ones", new_filled_rule<2>},
                                                                      {"aten::new_full", new_filled_rule<3>},
                                                                      {"aten::arange", range_rule},
                                                                      {"aten::arange.start", range_rule},
                                                                      {"aten::to.dtype", convert_rule},
                                                                      {"aten::_to_copy", convert_rule},
                                                                      {"aten::split_with_sizes", chunk_rule},
                                                                      {"aten::empty_like", like_rule},
                                                                      {"aten::zeros_like", like_rule},
                                                                      {"aten::ones_like", like_rule},
                                                                      {"aten::full_like", like_rule},
                                                                      {"aten::rand_like", like_rule},
                                                                      {"aten::randn_like", like_rule},
                                                                  });
  return table;
}

}  // namespace aotifuzz
