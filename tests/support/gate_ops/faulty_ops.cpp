// Operators with one planted fault each. A line that ends in "PLANTED operator kind" is where the gate must place a fault of that kind;
// it must report nothing else.

#include <ATen/ATen.h>
#include <torch/library.h>

#include <csignal>
#include <vector>

namespace {

using at::Tensor;
using c10::SymInt;
using c10::SymDimVector;

Tensor like(const Tensor& x) { return x.new_empty_symint(x.sym_sizes()); }
Tensor copy(const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); }

// The meta turns symbols into numbers.

Tensor by_size_meta(const Tensor& x) {
  return at::empty({x.size(0), 4}, x.options());  // PLANTED by_size meta-specialises
}
Tensor by_size(const Tensor& x) { return at::zeros({x.size(0), 4}, x.options()); }

Tensor by_sizes_meta(const Tensor& x) {
  return at::empty(x.sizes(), x.options());  // PLANTED by_sizes meta-specialises
}

Tensor by_numel_meta(const Tensor& x) {
  const int64_t count = x.numel();  // PLANTED by_numel meta-specialises
  return x.new_empty_symint({SymInt(count)});
}
Tensor by_numel(const Tensor& x) { return x.reshape({-1}).clone(); }

Tensor by_stride_meta(const Tensor& x) {
  const int64_t row = x.stride(0);  // PLANTED by_stride meta-specialises
  return x.new_empty_symint({x.sym_size(0), SymInt(row)});
}
Tensor by_stride(const Tensor& x) { return at::zeros({x.size(0), x.stride(0)}, x.options()); }

Tensor by_guard_meta(const Tensor& x) {
  const int64_t rows = x.sym_size(0).guard_int(__FILE__, __LINE__);  // PLANTED by_guard meta-specialises
  return x.new_empty_symint({SymInt(rows), x.sym_size(1)});
}

Tensor by_expect_meta(const Tensor& x, SymInt count) {
  const int64_t rows = count.expect_int();  // PLANTED by_expect meta-specialises
  return x.new_empty_symint({SymInt(rows), x.sym_size(1)});
}
Tensor by_expect(const Tensor& x, int64_t count) { return at::zeros({count, x.size(1)}, x.options()); }

Tensor by_list_meta(const Tensor& x, c10::SymIntArrayRef sizes) {
  const auto plain = C10_AS_INTARRAYREF_SLOW(sizes);  // PLANTED by_list meta-specialises
  return at::empty(plain, x.options());
}
Tensor by_list(const Tensor& x, at::IntArrayRef sizes) { return at::zeros(sizes, x.options()); }

Tensor by_temporary_meta(const Tensor& x) {
  const Tensor padded = x.new_empty_symint({x.sym_size(0) + 1, x.sym_size(1)});
  const int64_t rows = padded.size(0);  // PLANTED by_temporary meta-specialises
  return x.new_empty_symint({SymInt(rows), x.sym_size(1)});
}
Tensor by_temporary(const Tensor& x) { return at::zeros({x.size(0) + 1, x.size(1)}, x.options()); }

Tensor by_helper_rows(const Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "two dimensions");
  const int64_t columns = x.size(1);  // PLANTED by_helper meta-specialises
  return at::empty_symint({SymInt(columns), x.sym_size(0)}, x.options());
}
Tensor by_helper_meta(const Tensor& x) { return by_helper_rows(x); }
Tensor by_helper(const Tensor& x) { return at::zeros({x.size(1), x.size(0)}, x.options()); }

// The meta says something else than the kernel does.

Tensor floor_div_meta(const Tensor& x, SymInt block) {
  return x.new_empty_symint({x.sym_size(0) / block, x.sym_size(1)});  // PLANTED floor_div meta-wrong-size
}
Tensor floor_div(const Tensor& x, int64_t block) {
  return at::zeros({(x.size(0) + block - 1) / block, x.size(1)}, x.options());
}

Tensor pad_full_meta(const Tensor& x) {
  return x.new_empty_symint({x.sym_size(0) / 8 * 8 + 8, x.sym_size(1)});  // PLANTED pad_full meta-wrong-size
}
Tensor pad_full(const Tensor& x) { return at::zeros({(x.size(0) + 7) / 8 * 8, x.size(1)}, x.options()); }

Tensor odd_rows(const Tensor& x) { return at::zeros({x.size(0) - x.size(0) % 2, x.size(1)}, x.options()); }
Tensor odd_rows_meta(const Tensor& x) {
  return x.new_empty_symint(x.sym_sizes());  // PLANTED odd_rows meta-wrong-size
}

Tensor squeeze_one_meta(const Tensor& x) {
  if (x.sym_size(0) == 1) return x.new_empty_symint({x.sym_size(1)});  // PLANTED squeeze_one meta-wrong-size
  return like(x);
}

Tensor large_meta(const Tensor& x) {
  auto rows = x.sym_size(0);
  if (rows > 3000) rows = rows / 4 * 4;
  return x.new_empty_symint({rows, x.sym_size(1)});  // PLANTED large meta-wrong-size
}

std::tuple<Tensor, Tensor> clamp_topk(const Tensor& x, int64_t k) {
  auto [values, indices] = at::topk(x, std::min(k, x.size(-1)), -1);
  return {values.contiguous(), indices.contiguous()};
}
std::tuple<Tensor, Tensor> clamp_topk_meta(const Tensor& x, SymInt k) {
  SymDimVector sizes(x.sym_sizes().begin(), x.sym_sizes().end());
  sizes.back() = k;
  return {x.new_empty_symint(sizes),  // PLANTED clamp_topk meta-wrong-size
          x.new_empty_symint(sizes, x.options().dtype(at::kLong))};
}

std::tuple<Tensor, Tensor> index_dtype(const Tensor& x) {
  auto [values, indices] = at::max(x, 1, true);
  return {values, indices.to(at::kInt)};
}
std::tuple<Tensor, Tensor> index_dtype_meta(const Tensor& x) {
  return {x.new_empty_symint({x.sym_size(0), 1}),
          x.new_empty_symint({x.sym_size(0), 1}, x.options().dtype(at::kLong))};  // PLANTED index_dtype meta-wrong-dtype
}

Tensor ignored_dtype(const Tensor& x, std::optional<at::ScalarType> dtype) { return x.to(dtype.value_or(at::kFloat), false, true, at::MemoryFormat::Contiguous); }
Tensor ignored_dtype_meta(const Tensor& x, std::optional<at::ScalarType>) {
  return x.new_empty_symint(x.sym_sizes());  // PLANTED ignored_dtype meta-wrong-dtype
}

Tensor elsewhere(const Tensor& x) { return at::empty(x.sizes(), x.options().device(at::kMeta)); }
Tensor elsewhere_meta(const Tensor& x) {
  return x.new_empty_symint(x.sym_sizes());  // PLANTED elsewhere meta-wrong-device
}

Tensor cat_first_two(at::TensorList xs) { return at::cat(xs, 1); }
Tensor cat_first_two_meta(at::TensorList xs) {
  const auto columns = xs[0].sym_size(1) + xs[1].sym_size(1);
  return xs[0].new_empty_symint({xs[0].sym_size(0), columns});  // PLANTED cat_first_two meta-wrong-size
}

Tensor batch_last(const Tensor& x) { return at::zeros({x.size(1), x.size(0)}, x.options()).t(); }
Tensor batch_last_meta(const Tensor& x) {
  return x.new_empty_symint(x.sym_sizes());  // PLANTED batch_last meta-wrong-stride
}

std::tuple<Tensor, Tensor> second_output(const Tensor& x) {
  return {copy(x), at::zeros({x.size(0), 3}, x.options())};
}
std::tuple<Tensor, Tensor> second_output_meta(const Tensor& x) {
  const Tensor first = like(x);
  return {first, x.new_empty_symint({x.sym_size(0), 4})};  // PLANTED second_output meta-wrong-size
}

Tensor tail_view(const Tensor& x) { return x.slice(0, 1); }
Tensor tail_view_meta(const Tensor& x) {
  const SymInt rows = (x.sym_size(0) - 1).max(0);
  return x.as_strided_symint({rows, x.sym_size(1)}, x.sym_strides(), x.sym_storage_offset());  // PLANTED tail_view meta-wrong-stride
}

Tensor copied_view(const Tensor& x) { return x.view(x.sizes()); }
Tensor copied_view_meta(const Tensor& x) {
  return x.new_empty_symint(x.sym_sizes());  // PLANTED copied_view meta-wrong-alias
}

std::vector<Tensor> parts(const Tensor& x) { return {copy(x), copy(x), copy(x)}; }
std::vector<Tensor> parts_meta(const Tensor& x) {
  return {like(x), like(x)};
}

Tensor strict_meta(const Tensor& x) {
  TORCH_CHECK(x.sym_size(0) % 4 == 0 || x.sym_size(0) < 100, "rows must be a multiple of 4");  // PLANTED strict meta-raises
  return like(x);
}

Tensor reads_offsets_meta(const Tensor& offsets) {
  const int64_t count = offsets.select(0, -1).item<int64_t>();  // PLANTED reads_offsets meta-reads-data
  return offsets.new_empty_symint({SymInt(count)});
}
Tensor reads_offsets(const Tensor& offsets) {
  return at::zeros({offsets.select(0, -1).item<int64_t>()}, offsets.options());
}

Tensor reads_memory_meta(const Tensor& x) {
  const auto* values = static_cast<const volatile float*>(x.storage().data());
  const float first = values[0];  // PLANTED reads_memory meta-crashes
  return first > 0 ? like(x) : x;
}

// Sizes of int64_t are divided towards zero, symbolic ones downwards.
Tensor negative_div(const Tensor& x) { return at::zeros({x.size(0), (x.size(1) - 5) / 4 + 1}, x.options()); }
Tensor negative_div_meta(const Tensor& x) {
  return x.new_empty_symint({x.sym_size(0), (x.sym_size(1) - 5) / 4 + 1});  // PLANTED negative_div meta-wrong-size
}

// The schema.

Tensor int_size(const Tensor& x, int64_t columns) { return at::zeros({x.size(0), columns}, x.options()); }
Tensor int_size_meta(const Tensor& x, int64_t columns) { return x.new_empty_symint({x.sym_size(0), SymInt(columns)}); }

// The kernel and memory.

Tensor& rounded_out(const Tensor& x, Tensor& out) {
  const Tensor in = x.contiguous();
  const int64_t count = in.numel();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < (count + 7) / 8 * 8; ++i)
    to[i] = i < count ? in.const_data_ptr<float>()[i] : 0;  // PLANTED rounded.out kernel-overruns
  return out;
}
Tensor& rounded_out_meta(const Tensor&, Tensor& out) { return out; }

Tensor over_read(const Tensor& x) {
  const Tensor in = x.contiguous();
  const float* from = in.const_data_ptr<float>();
  volatile float sum = 0;
  for (int64_t i = 0; i < (in.numel() + 3) / 4 * 4; ++i)
    sum = sum + from[i];  // PLANTED over_read kernel-overruns
  return at::full({1}, static_cast<double>(sum), x.options());
}
Tensor sum_meta(const Tensor& x) { return x.new_empty_symint({1}); }

Tensor under_read(const Tensor& x) {
  const Tensor in = x.contiguous();
  const float* from = in.const_data_ptr<float>();
  volatile float sum = 0;
  for (int64_t i = 0; i < in.numel(); ++i)
    sum = sum + from[i] - from[i - 1];  // PLANTED under_read kernel-overruns
  return at::full({1}, static_cast<double>(sum), x.options());
}

Tensor normalises(const Tensor& x) {
  x.mul_(0.5);  // PLANTED normalises hidden-mutation
  return copy(x);
}

Tensor same_dtype(const Tensor& x) { return x.to(at::kFloat); }  // PLANTED same_dtype undeclared-alias

Tensor even_rows(const Tensor& x) {
  Tensor out = at::empty(x.sizes(), x.options());  // PLANTED even_rows kernel-unwritten
  for (int64_t i = 0; i < x.size(0); i += 2) out.select(0, i).copy_(x.select(0, i));
  return out;
}

Tensor accumulates(const Tensor& x) {
  const Tensor total = at::empty(x.sizes(), x.options());
  return total.mul(0.5).add_(x.contiguous());  // PLANTED accumulates kernel-reads-unwritten
}

Tensor divides(const Tensor& x) {
  volatile int64_t rows = x.size(0) - 3;
  const int64_t share = 100 / rows;  // PLANTED divides kernel-crashes
  return share > 0 ? copy(x) : copy(x);
}

Tensor spins(const Tensor& x) {
  volatile bool on = x.size(0) == 17;
  while (on) continue;  // PLANTED spins kernel-hangs
  return copy(x);
}

Tensor refuses(const Tensor& x) {
  TORCH_CHECK(x.size(0) % 4 != 1, "rows must not be 1 more than a multiple of 4");
  return copy(x);
}

}  // namespace

TORCH_LIBRARY(planted, m) {
  m.def("by_size(Tensor x) -> Tensor");
  m.def("by_sizes(Tensor x) -> Tensor");
  m.def("by_numel(Tensor x) -> Tensor");
  m.def("by_stride(Tensor x) -> Tensor");
  m.def("by_guard(Tensor x) -> Tensor");
  m.def("by_expect(Tensor x, SymInt count) -> Tensor");
  m.def("by_list(Tensor x, SymInt[] sizes) -> Tensor");
  m.def("by_temporary(Tensor x) -> Tensor");
  m.def("by_helper(Tensor x) -> Tensor");
  m.def("floor_div(Tensor x, SymInt block) -> Tensor");
  m.def("pad_full(Tensor x) -> Tensor");
  m.def("odd_rows(Tensor x) -> Tensor");
  m.def("squeeze_one(Tensor x) -> Tensor");
  m.def("large(Tensor x) -> Tensor");
  m.def("clamp_topk(Tensor x, SymInt k) -> (Tensor, Tensor)");
  m.def("index_dtype(Tensor x) -> (Tensor, Tensor)");
  m.def("elsewhere(Tensor x) -> Tensor");
  m.def("ignored_dtype(Tensor x, ScalarType? dtype=None) -> Tensor");
  m.def("cat_first_two(Tensor[] xs) -> Tensor");
  m.def("batch_last(Tensor x) -> Tensor");
  m.def("second_output(Tensor x) -> (Tensor, Tensor)");
  m.def("tail_view(Tensor(a) x) -> Tensor(a)");
  m.def("copied_view(Tensor(a) x) -> Tensor(a)");
  m.def("parts(Tensor x) -> Tensor[]");
  m.def("strict(Tensor x) -> Tensor");
  m.def("reads_offsets(Tensor offsets) -> Tensor");
  m.def("reads_memory(Tensor x) -> Tensor");
  m.def("negative_div(Tensor x) -> Tensor");
  m.def("int_size(Tensor x, int columns) -> Tensor");  // PLANTED int_size int-for-size
  m.def("no_meta(Tensor x) -> Tensor");                // PLANTED no_meta meta-missing
  m.def("rounded(Tensor x) -> Tensor");
  m.def("rounded.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("over_read(Tensor x) -> Tensor");
  m.def("under_read(Tensor x) -> Tensor");
  m.def("normalises(Tensor x) -> Tensor");
  m.def("same_dtype(Tensor x) -> Tensor");
  m.def("even_rows(Tensor x) -> Tensor");
  m.def("accumulates(Tensor x) -> Tensor");
  m.def("divides(Tensor x) -> Tensor");
  m.def("spins(Tensor x) -> Tensor");
  m.def("refuses(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(planted, CPU, m) {
  m.impl("by_size", by_size);
  m.impl("by_sizes", copy);
  m.impl("by_numel", by_numel);
  m.impl("by_stride", by_stride);
  m.impl("by_guard", copy);
  m.impl("by_expect", by_expect);
  m.impl("by_list", by_list);
  m.impl("by_temporary", by_temporary);
  m.impl("by_helper", by_helper);
  m.impl("floor_div", floor_div);
  m.impl("pad_full", pad_full);
  m.impl("odd_rows", odd_rows);
  m.impl("squeeze_one", copy);
  m.impl("large", copy);
  m.impl("clamp_topk", clamp_topk);
  m.impl("index_dtype", index_dtype);
  m.impl("elsewhere", elsewhere);
  m.impl("ignored_dtype", ignored_dtype);
  m.impl("cat_first_two", cat_first_two);
  m.impl("batch_last", batch_last);
  m.impl("second_output", second_output);
  m.impl("tail_view", tail_view);
  m.impl("copied_view", copied_view);
  m.impl("parts", parts);
  m.impl("strict", copy);
  m.impl("reads_offsets", reads_offsets);
  m.impl("reads_memory", copy);
  m.impl("negative_div", negative_div);
  m.impl("int_size", int_size);
  m.impl("no_meta", copy);
  m.impl("rounded", copy);
  m.impl("rounded.out", rounded_out);
  m.impl("over_read", over_read);
  m.impl("under_read", under_read);
  m.impl("normalises", normalises);
  m.impl("same_dtype", same_dtype);
  m.impl("even_rows", even_rows);
  m.impl("accumulates", accumulates);
  m.impl("divides", divides);
  m.impl("spins", spins);
  m.impl("refuses", refuses);  // PLANTED refuses one-sided-error
}

TORCH_LIBRARY_IMPL(planted, Meta, m) {
  m.impl("by_size", by_size_meta);
  m.impl("by_sizes", by_sizes_meta);
  m.impl("by_numel", by_numel_meta);
  m.impl("by_stride", by_stride_meta);
  m.impl("by_guard", by_guard_meta);
  m.impl("by_expect", by_expect_meta);
  m.impl("by_list", by_list_meta);
  m.impl("by_temporary", by_temporary_meta);
  m.impl("by_helper", by_helper_meta);
  m.impl("floor_div", floor_div_meta);
  m.impl("pad_full", pad_full_meta);
  m.impl("odd_rows", odd_rows_meta);
  m.impl("squeeze_one", squeeze_one_meta);
  m.impl("large", large_meta);
  m.impl("clamp_topk", clamp_topk_meta);
  m.impl("index_dtype", index_dtype_meta);
  m.impl("elsewhere", elsewhere_meta);
  m.impl("ignored_dtype", ignored_dtype_meta);
  m.impl("cat_first_two", cat_first_two_meta);
  m.impl("batch_last", batch_last_meta);
  m.impl("second_output", second_output_meta);
  m.impl("tail_view", tail_view_meta);
  m.impl("copied_view", copied_view_meta);
  m.impl("parts", parts_meta);  // PLANTED parts meta-wrong-count
  m.impl("strict", strict_meta);
  m.impl("reads_offsets", reads_offsets_meta);
  m.impl("reads_memory", reads_memory_meta);
  m.impl("negative_div", negative_div_meta);
  m.impl("int_size", int_size_meta);
  m.impl("rounded", like);
  m.impl("rounded.out", rounded_out_meta);
  m.impl("over_read", sum_meta);
  m.impl("under_read", sum_meta);
  m.impl("normalises", like);
  m.impl("same_dtype", like);
  m.impl("even_rows", like);
  m.impl("accumulates", like);
  m.impl("divides", like);
  m.impl("spins", like);
  m.impl("refuses", like);
}
