// Operators without a fault, modelled on what libraries of custom operators do: the gate must report none of them.

#include <ATen/ATen.h>
#include <torch/library.h>

#include <vector>

namespace {

using at::Tensor;
using c10::SymDimVector;
using c10::SymInt;

Tensor like(const Tensor& x) { return x.new_empty_symint(x.sym_sizes()); }
Tensor copy(const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); }
SymDimVector sizes_of(const Tensor& x) { return SymDimVector(x.sym_sizes().begin(), x.sym_sizes().end()); }

// Elementwise, with plain loops and with ATen.

Tensor scale(const Tensor& x, double factor) {
  Tensor out = at::empty(x.sizes(), x.options());
  const Tensor in = x.contiguous();
  for (int64_t i = 0; i < in.numel(); ++i) out.mutable_data_ptr<float>()[i] = in.const_data_ptr<float>()[i] * factor;
  return out;
}
Tensor scale_meta(const Tensor& x, double) { return like(x); }
Tensor& scale_out(const Tensor& x, double factor, Tensor& out) { return out.copy_(x).mul_(factor); }
Tensor& scale_out_meta(const Tensor&, double, Tensor& out) { return out; }
Tensor gelu_add(const Tensor& x, const Tensor& y) { return at::gelu(x + y); }
Tensor fused_bias(const Tensor& x, const Tensor& bias) { return (x + bias).relu(); }
Tensor clamp_scalar(const Tensor& x, const at::Scalar& low) { return at::clamp_min(x, low).contiguous(); }
Tensor clamp_scalar_meta(const Tensor& x, const at::Scalar&) { return like(x); }
Tensor& add_in_place(Tensor& x, const at::Scalar& value) { return x.add_(value); }
Tensor& add_in_place_meta(Tensor& x, const at::Scalar&) { return x; }
Tensor masked(const Tensor& x, const Tensor& mask) {
  return at::where(mask, x, at::zeros({}, x.options())).contiguous();
}
Tensor masked_meta(const Tensor& x, const Tensor&) { return like(x); }
Tensor mode(const Tensor& x, c10::string_view name) {
  return name == "zero" ? at::zeros(x.sizes(), x.options()) : copy(x);
}
Tensor mode_meta(const Tensor& x, c10::string_view) { return like(x); }
Tensor dropout(const Tensor& x, double p) {
  return at::bernoulli(at::full(x.sizes(), 1 - p, x.options())).mul_(x.contiguous());
}

// Sizes that are computed.

Tensor pad_rows(const Tensor& x, int64_t block) {
  Tensor out = at::zeros({(x.size(0) + block - 1) / block * block, x.size(1)}, x.options());
  out.narrow(0, 0, x.size(0)).copy_(x);
  return out;
}
Tensor pad_rows_meta(const Tensor& x, SymInt block) {
  return x.new_empty_symint({(x.sym_size(0) + block - 1) / block * block, x.sym_size(1)});
}
Tensor blocks(const Tensor& x) { return at::zeros({(x.numel() + 127) / 128}, x.options()); }
Tensor blocks_meta(const Tensor& x) { return x.new_empty_symint({(x.sym_numel() + 127) / 128}); }
Tensor pool(const Tensor& x, int64_t kernel, int64_t stride) {
  TORCH_CHECK(x.size(1) + 2 >= kernel, "the kernel is larger than the row");
  return at::zeros({x.size(0), (x.size(1) + 2 - kernel) / stride + 1}, x.options());
}
Tensor pool_meta(const Tensor& x, int64_t kernel, int64_t stride) {
  return x.new_empty_symint({x.sym_size(0), (x.sym_size(1) + 2 - kernel) / stride + 1});
}
Tensor quantise_rows(const Tensor& x) {
  return at::zeros({x.size(0), (x.size(1) + 3) / 4 * 4 + 8}, x.options().dtype(at::kByte));
}
Tensor quantise_rows_meta(const Tensor& x) {
  return x.new_empty_symint({x.sym_size(0), (x.sym_size(1) + 3) / 4 * 4 + 8}, x.options().dtype(at::kByte));
}
Tensor dequantise_rows(const Tensor& x) { return at::zeros({x.size(0), x.size(1) - 8}, x.options().dtype(at::kFloat)); }
Tensor dequantise_rows_meta(const Tensor& x) {
  return x.new_empty_symint({x.sym_size(0), x.sym_size(1) - 8}, x.options().dtype(at::kFloat));
}
Tensor half_or_all(const Tensor& x, bool half) { return at::zeros({half ? x.size(0) / 2 : x.size(0)}, x.options()); }
Tensor half_or_all_meta(const Tensor& x, bool half) {
  return x.new_empty_symint({half ? x.sym_size(0) / 2 : x.sym_size(0)});
}

// Lists.

Tensor cat_columns(at::TensorList xs) { return at::cat(xs, 1).contiguous(); }
Tensor cat_columns_meta(at::TensorList xs) {
  SymInt columns = 0;
  for (const Tensor& x : xs) columns = columns + x.sym_size(1);
  return xs[0].new_empty_symint({xs[0].sym_size(0), columns});
}
Tensor stack_all(at::TensorList xs, int64_t dim) { return at::stack(xs, dim).contiguous(); }
Tensor stack_all_meta(at::TensorList xs, int64_t dim) {
  SymDimVector sizes = sizes_of(xs[0]);
  sizes.insert(sizes.begin() + (dim < 0 ? dim + xs[0].dim() + 1 : dim), SymInt(static_cast<int64_t>(xs.size())));
  return xs[0].new_empty_symint(sizes);
}
std::vector<Tensor> halves(const Tensor& x) {
  const int64_t first = x.size(0) / 2;
  return {copy(x.narrow(0, 0, first)), copy(x.narrow(0, first, x.size(0) - first))};
}
std::vector<Tensor> halves_meta(const Tensor& x) {
  const SymInt first = x.sym_size(0) / 2;
  return {x.new_empty_symint({first, x.sym_size(1)}), x.new_empty_symint({x.sym_size(0) - first, x.sym_size(1)})};
}
Tensor zeros_of(const Tensor& x, at::IntArrayRef sizes) { return at::zeros(sizes, x.options()); }
Tensor zeros_of_meta(const Tensor& x, c10::SymIntArrayRef sizes) { return x.new_empty_symint(sizes); }

// Indices, jagged layouts.

Tensor jagged_sum(const Tensor& values, const Tensor& offsets) {
  Tensor out = at::zeros({offsets.size(0) - 1, values.size(1)}, values.options());
  const Tensor bounds = offsets.contiguous();
  for (int64_t i = 0; i + 1 < bounds.size(0); ++i) {
    const int64_t begin = bounds.const_data_ptr<int64_t>()[i], end = bounds.const_data_ptr<int64_t>()[i + 1];
    out.select(0, i).copy_(values.narrow(0, begin, end - begin).sum(0));
  }
  return out;
}
Tensor jagged_sum_meta(const Tensor& values, const Tensor& offsets) {
  return values.new_empty_symint({offsets.sym_size(0) - 1, values.sym_size(1)});
}
Tensor complete_cumsum(const Tensor& lengths) {
  return at::cat({at::zeros({1}, lengths.options()), lengths.cumsum(0)});
}
Tensor complete_cumsum_meta(const Tensor& lengths) { return lengths.new_empty_symint({lengths.sym_size(0) + 1}); }
Tensor rows_of(const Tensor& table, const Tensor& rows) { return table.index_select(0, rows).contiguous(); }
Tensor rows_of_meta(const Tensor& table, const Tensor& rows) {
  return table.new_empty_symint({rows.sym_size(0), table.sym_size(1)});
}
Tensor one_hot(const Tensor& classes, int64_t count) {
  Tensor out = at::zeros({classes.size(0), count}, classes.options());
  return out.scatter_(1, classes.unsqueeze(1), 1);
}
Tensor one_hot_meta(const Tensor& classes, SymInt count) {
  return classes.new_empty_symint({classes.sym_size(0), count});
}
std::tuple<Tensor, Tensor> best(const Tensor& x, int64_t k) {
  auto [values, indices] = at::topk(x, std::min(k, x.size(-1)), -1);
  return {values.contiguous(), indices.to(at::kInt).contiguous()};
}
std::tuple<Tensor, Tensor> best_meta(const Tensor& x, SymInt k) {
  SymDimVector sizes = sizes_of(x);
  sizes.back() = k.min(sizes.back());
  return {x.new_empty_symint(sizes), x.new_empty_symint(sizes, x.options().dtype(at::kInt))};
}
Tensor nonzero_rows(const Tensor& x) { return at::nonzero(x); }

// Products, optional arguments, several outputs.

Tensor projection(const Tensor& x, const Tensor& w, const std::optional<Tensor>& b) {
  Tensor y = at::matmul(x, w.t());
  if (b) y = y + *b;
  return y.contiguous();
}
Tensor projection_meta(const Tensor& x, const Tensor& w, const std::optional<Tensor>&) {
  TORCH_SYM_CHECK(x.sym_size(-1).sym_eq(w.sym_size(1)), "sizes differ");
  SymDimVector sizes = sizes_of(x);
  sizes.back() = w.sym_size(0);
  return x.new_empty_symint(sizes);
}
Tensor mixer(const Tensor& x, const Tensor& w) {
  const Tensor flat = x.contiguous().view({x.size(0) * x.size(1), x.size(2)});
  return at::matmul(flat, w.t()).view({x.size(0), x.size(1), w.size(0)});
}
Tensor mixer_meta(const Tensor& x, const Tensor& w) {
  const Tensor flat = x.contiguous().view_symint({x.sym_size(0) * x.sym_size(1), x.sym_size(2)});
  return at::matmul(flat, w.t()).view_symint({x.sym_size(0), x.sym_size(1), w.sym_size(0)});
}
std::tuple<Tensor, Tensor, Tensor> norm(const Tensor& x, double eps) {
  const Tensor mean = x.mean(1), spread = (x.var(1, false) + eps).rsqrt();
  return {((x - mean.unsqueeze(1)) * spread.unsqueeze(1)).contiguous(), mean.contiguous(), spread.contiguous()};
}
std::tuple<Tensor, Tensor, Tensor> norm_meta(const Tensor& x, double) {
  return {like(x), x.new_empty_symint({x.sym_size(0)}), x.new_empty_symint({x.sym_size(0)})};
}
Tensor cast(const Tensor& x, std::optional<at::ScalarType> dtype) {
  return x.to(dtype.value_or(at::kDouble), false, true, at::MemoryFormat::Contiguous);
}
Tensor cast_meta(const Tensor& x, std::optional<at::ScalarType> dtype) {
  return x.new_empty_symint(x.sym_sizes(), x.options().dtype(dtype.value_or(at::kDouble)));
}
Tensor reduce(const Tensor& x, int64_t dim, bool keep) { return x.sum({dim}, keep).contiguous(); }
Tensor attention(const Tensor& q, const Tensor& k) { return at::softmax(at::matmul(q, k.transpose(-2, -1)), -1); }

// Views, layouts, memory.

Tensor swapped(const Tensor& x) { return x.transpose(0, 1); }
Tensor swapped_meta(const Tensor& x) {
  const auto sizes = x.sym_sizes(), strides = x.sym_strides();
  return x.as_strided_symint({sizes[1], sizes[0]}, {strides[1], strides[0]}, x.sym_storage_offset());
}
Tensor tail(const Tensor& x) { return x.slice(0, 1); }
Tensor keeps_layout(const Tensor& x) {
  return x.is_contiguous() ? copy(x) : at::ones({x.size(1), x.size(0)}, x.options()).t();
}
Tensor keeps_layout_meta(const Tensor& x) {
  if (x.is_contiguous()) return like(x);
  return x.new_empty_strided_symint(x.sym_sizes(), {SymInt(1), x.sym_size(0).max(1)});
}
Tensor managed(const Tensor& x, int64_t rows) { return at::empty({rows, x.size(1)}, x.options()); }
Tensor managed_meta(const Tensor& x, SymInt rows) { return x.new_empty_symint({rows, x.sym_size(1)}); }
Tensor contiguous_only(const Tensor& x) {
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  return copy(x);
}
Tensor contiguous_only_meta(const Tensor& x) { return like(x); }
Tensor composite(const Tensor& x, const Tensor& y) { return at::cat({x, y.relu()}, 0); }
Tensor differentiable(const Tensor& x) { return copy(x); }
Tensor differentiable_autograd(const Tensor& x) {
  at::AutoDispatchBelowADInplaceOrView below;
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("right::differentiable", "").typed<Tensor(const Tensor&)>();
  return op.call(x);
}

}  // namespace

TORCH_LIBRARY(right, m) {
  m.def("scale(Tensor x, float factor=0.5) -> Tensor");
  m.def("scale.out(Tensor x, float factor=0.5, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("gelu_add(Tensor x, Tensor y) -> Tensor");
  m.def("fused_bias(Tensor x, Tensor bias) -> Tensor");
  m.def("clamp_scalar(Tensor x, Scalar low) -> Tensor");
  m.def("add_in_place(Tensor(a!) x, Scalar value) -> Tensor(a!)");
  m.def("masked(Tensor x, Tensor mask) -> Tensor");
  m.def("mode(Tensor x, str name) -> Tensor");
  m.def("dropout(Tensor x, float p) -> Tensor");
  m.def("pad_rows(Tensor x, SymInt block=64) -> Tensor");
  m.def("blocks(Tensor x) -> Tensor");
  m.def("pool(Tensor x, int kernel=3, int stride=2) -> Tensor");
  m.def("quantise_rows(Tensor x) -> Tensor");
  m.def("dequantise_rows(Tensor x) -> Tensor");
  m.def("half_or_all(Tensor x, bool half) -> Tensor");
  m.def("cat_columns(Tensor[] xs) -> Tensor");
  m.def("stack_all(Tensor[] xs, int dim=0) -> Tensor");
  m.def("halves(Tensor x) -> Tensor[]");
  m.def("zeros_of(Tensor x, SymInt[] sizes) -> Tensor");
  m.def("jagged_sum(Tensor values, Tensor offsets) -> Tensor");
  m.def("complete_cumsum(Tensor lengths) -> Tensor");
  m.def("rows_of(Tensor table, Tensor rows) -> Tensor");
  m.def("one_hot(Tensor classes, SymInt count) -> Tensor");
  m.def("best(Tensor x, SymInt k) -> (Tensor, Tensor)");
  m.def("nonzero_rows(Tensor x) -> Tensor");
  m.def("projection(Tensor x, Tensor w, Tensor? b=None) -> Tensor");
  m.def("mixer(Tensor x, Tensor w) -> Tensor");
  m.def("norm(Tensor x, float eps=1e-5) -> (Tensor, Tensor, Tensor)");
  m.def("cast(Tensor x, ScalarType? dtype=None) -> Tensor");
  m.def("reduce(Tensor x, int dim, bool keep=False) -> Tensor");
  m.def("attention(Tensor q, Tensor k) -> Tensor");
  m.def("swapped(Tensor(a) x) -> Tensor(a)");
  m.def("tail(Tensor(a) x) -> Tensor(a)");
  m.def("keeps_layout(Tensor x) -> Tensor");
  m.def("managed(Tensor x, SymInt rows) -> Tensor");
  m.def("contiguous_only(Tensor x) -> Tensor");
  m.def("composite(Tensor x, Tensor y) -> Tensor", composite);
  m.def("differentiable(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(right, CPU, m) {
  m.impl("scale", scale);
  m.impl("scale.out", scale_out);
  m.impl("gelu_add", gelu_add);
  m.impl("fused_bias", fused_bias);
  m.impl("clamp_scalar", clamp_scalar);
  m.impl("add_in_place", add_in_place);
  m.impl("masked", masked);
  m.impl("mode", mode);
  m.impl("dropout", dropout);
  m.impl("pad_rows", pad_rows);
  m.impl("blocks", blocks);
  m.impl("pool", pool);
  m.impl("quantise_rows", quantise_rows);
  m.impl("dequantise_rows", dequantise_rows);
  m.impl("half_or_all", half_or_all);
  m.impl("cat_columns", cat_columns);
  m.impl("stack_all", stack_all);
  m.impl("halves", halves);
  m.impl("zeros_of", zeros_of);
  m.impl("jagged_sum", jagged_sum);
  m.impl("complete_cumsum", complete_cumsum);
  m.impl("rows_of", rows_of);
  m.impl("one_hot", one_hot);
  m.impl("best", best);
  m.impl("nonzero_rows", nonzero_rows);
  m.impl("projection", projection);
  m.impl("mixer", mixer);
  m.impl("norm", norm);
  m.impl("cast", cast);
  m.impl("reduce", reduce);
  m.impl("attention", attention);
  m.impl("swapped", swapped);
  m.impl("tail", tail);
  m.impl("keeps_layout", keeps_layout);
  m.impl("managed", managed);
  m.impl("contiguous_only", contiguous_only);
  m.impl("differentiable", differentiable);
}

TORCH_LIBRARY_IMPL(right, Meta, m) {
  m.impl("scale", scale_meta);
  m.impl("scale.out", scale_out_meta);
  m.impl("gelu_add", gelu_add);
  m.impl("fused_bias", fused_bias);
  m.impl("clamp_scalar", clamp_scalar_meta);
  m.impl("add_in_place", add_in_place_meta);
  m.impl("masked", masked_meta);
  m.impl("mode", mode_meta);
  m.impl("dropout", scale_meta);
  m.impl("pad_rows", pad_rows_meta);
  m.impl("blocks", blocks_meta);
  m.impl("pool", pool_meta);
  m.impl("quantise_rows", quantise_rows_meta);
  m.impl("dequantise_rows", dequantise_rows_meta);
  m.impl("half_or_all", half_or_all_meta);
  m.impl("cat_columns", cat_columns_meta);
  m.impl("stack_all", stack_all_meta);
  m.impl("halves", halves_meta);
  m.impl("zeros_of", zeros_of_meta);
  m.impl("jagged_sum", jagged_sum_meta);
  m.impl("complete_cumsum", complete_cumsum_meta);
  m.impl("rows_of", rows_of_meta);
  m.impl("one_hot", one_hot_meta);
  m.impl("best", best_meta);
  m.impl("projection", projection_meta);
  m.impl("mixer", mixer_meta);
  m.impl("norm", norm_meta);
  m.impl("cast", cast_meta);
  m.impl("reduce", reduce);
  m.impl("attention", attention);
  m.impl("swapped", swapped_meta);
  m.impl("tail", tail);
  m.impl("keeps_layout", keeps_layout_meta);
  m.impl("managed", managed_meta);
  m.impl("contiguous_only", contiguous_only_meta);
  m.impl("differentiable", like);
}

TORCH_LIBRARY_IMPL(right, Autograd, m) { m.impl("differentiable", differentiable_autograd); }
