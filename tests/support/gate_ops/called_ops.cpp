// Operators whose arguments a schema alone cannot tell: called_ops.py exports a program that calls them. A line that
// ends in "PLANTED operator kind" has a fault that shows only at the sizes of a call; the other operators are right.

#include <ATen/ATen.h>
#include <torch/library.h>

namespace {

using at::Tensor;
using c10::SymInt;

// x f32[B,T,K], w f32[N,K], b f32[N]
Tensor project(const Tensor& x, const Tensor& w, const std::optional<Tensor>& b) {
  TORCH_CHECK(x.dim() == 3 && w.dim() == 2 && x.size(2) == w.size(1), "x[B,T,K] and w[N,K]");
  TORCH_CHECK(!b || (b->dim() == 1 && b->size(0) == w.size(0)), "b[N]");
  const Tensor y = at::matmul(x, w.t());
  return b ? y + *b : y;
}
Tensor project_meta(const Tensor& x, const Tensor& w, const std::optional<Tensor>&) {
  return x.new_empty_symint({x.sym_size(0), x.sym_size(1), w.sym_size(0)});
}

void check_gate(const Tensor& x, const Tensor& gate) {
  TORCH_CHECK(x.dim() == 2 && gate.dim() == 2 && x.size(0) == gate.size(0) && x.size(1) == 2 * gate.size(1),
              "x[B,2*D] and gate[B,D]");
}
Tensor gated(const Tensor& x, const Tensor& gate) {
  check_gate(x, gate);
  return (x.narrow(1, 0, gate.size(1)) * gate + x.narrow(1, gate.size(1), gate.size(1))).contiguous();
}
Tensor gated_meta(const Tensor& x, const Tensor& gate) { return gate.new_empty_symint(gate.sym_sizes()); }

// One more column where there is an odd number of them.
Tensor gated_even(const Tensor& x, const Tensor& gate) {
  check_gate(x, gate);
  return at::zeros({gate.size(0), (gate.size(1) + 1) / 2 * 2}, gate.options());
}
Tensor gated_even_meta(const Tensor& x, const Tensor& gate) {
  return gate.new_empty_symint({x.sym_size(0), x.sym_size(1) / 2});  // PLANTED gated_even meta-wrong-size
}

// halves f32[B,(T+1)//2]: every second column of x.
void check_halves(const Tensor& x, const Tensor& halves) {
  TORCH_CHECK(x.dim() == 2 && halves.dim() == 2 && halves.size(1) == (x.size(1) + 1) / 2, "halves[B,(T+1)//2]");
}
Tensor interleave(const Tensor& x, const Tensor& halves) {
  check_halves(x, halves);
  return at::cat({x, halves}, 1);
}
Tensor interleave_meta(const Tensor& x, const Tensor& halves) {
  return x.new_empty_symint({x.sym_size(0), x.sym_size(1) + halves.sym_size(1)});
}

// Writes one element too many where T is odd.
Tensor spread(const Tensor& x, const Tensor& halves) {
  check_halves(x, halves);
  TORCH_CHECK(x.is_contiguous() && halves.is_contiguous(), "contiguous tensors");
  Tensor out = at::empty_like(x);
  float* to = out.mutable_data_ptr<float>();
  const int64_t rows = x.size(0), columns = 2 * halves.size(1);
  for (int64_t i = 0; i < rows * columns; ++i) to[i] = 0.5f;  // PLANTED spread kernel-overruns
  return out;
}
Tensor spread_meta(const Tensor& x, const Tensor&) { return x.new_empty_symint(x.sym_sizes()); }

// x f32[B,heads*D]
Tensor split_heads(const Tensor& x, int64_t heads) {
  TORCH_CHECK(x.dim() == 2 && heads > 0 && x.size(1) % heads == 0, "columns in heads");
  return x.reshape({x.size(0), heads, x.size(1) / heads}).clone(at::MemoryFormat::Contiguous);
}
Tensor split_heads_meta(const Tensor& x, SymInt heads) {
  return x.new_empty_symint({x.sym_size(0), heads, x.sym_size(1) / heads});
}

// table f32[V,D], rows i64[N] below V
Tensor rows_of(const Tensor& table, const Tensor& rows) {
  TORCH_CHECK(table.dim() == 2 && rows.dim() == 1 && rows.scalar_type() == at::kLong && table.is_floating_point(),
              "table[V,D] of floats and rows[N] of int64");
  return at::index_select(table, 0, rows);
}
Tensor rows_of_meta(const Tensor& table, const Tensor& rows) {
  return table.new_empty_symint({rows.sym_size(0), table.sym_size(1)});
}

Tensor styled(const Tensor& x, at::ArrayRef<double> factors, c10::string_view mode, at::IntArrayRef order, bool flip,
              std::optional<at::ScalarType> dtype) {
  TORCH_CHECK(factors.size() == 2 && mode == "two # words" && order.size() == 3 && flip, "the program's own words");
  Tensor y = x.permute(order) * factors[0] + factors[1];
  return y.to(dtype.value_or(x.scalar_type())).contiguous();
}
Tensor styled_meta(const Tensor& x, at::ArrayRef<double>, c10::string_view, at::IntArrayRef order, bool,
                   std::optional<at::ScalarType> dtype) {
  std::vector<SymInt> sizes;
  for (const int64_t d : order) sizes.push_back(x.sym_size(d));
  return at::empty_symint(sizes, x.options().dtype(dtype.value_or(x.scalar_type())));
}

// Called with a device, which a spec has no word for.
Tensor moved(const Tensor& x, at::Device) { return x.clone(at::MemoryFormat::Contiguous); }
Tensor moved_meta(const Tensor& x, at::Device) { return x.new_empty_symint(x.sym_sizes()); }

// Nobody calls it.
Tensor plain(const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); }
Tensor plain_meta(const Tensor& x) { return x.new_empty_symint(x.sym_sizes()); }

}  // namespace

TORCH_LIBRARY(called, m) {
  m.def("project(Tensor x, Tensor w, Tensor? b=None) -> Tensor");
  m.def("gated(Tensor x, Tensor gate) -> Tensor");
  m.def("gated_even(Tensor x, Tensor gate) -> Tensor");
  m.def("interleave(Tensor x, Tensor halves) -> Tensor");
  m.def("spread(Tensor x, Tensor halves) -> Tensor");
  m.def("split_heads(Tensor x, SymInt heads) -> Tensor");
  m.def("rows_of(Tensor table, Tensor rows) -> Tensor");
  m.def("styled(Tensor x, float[] factors, str mode, int[] order, bool flip, ScalarType? dtype=None) -> Tensor");
  m.def("moved(Tensor x, Device device) -> Tensor");
  m.def("plain(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(called, CPU, m) {
  m.impl("project", project);
  m.impl("gated", gated);
  m.impl("gated_even", gated_even);
  m.impl("interleave", interleave);
  m.impl("spread", spread);
  m.impl("split_heads", split_heads);
  m.impl("rows_of", rows_of);
  m.impl("styled", styled);
  m.impl("moved", moved);
  m.impl("plain", plain);
}

TORCH_LIBRARY_IMPL(called, Meta, m) {
  m.impl("project", project_meta);
  m.impl("gated", gated_meta);
  m.impl("gated_even", gated_even_meta);
  m.impl("interleave", interleave_meta);
  m.impl("spread", spread_meta);
  m.impl("split_heads", split_heads_meta);
  m.impl("rows_of", rows_of_meta);
  m.impl("styled", styled_meta);
  m.impl("moved", moved_meta);
  m.impl("plain", plain_meta);
}
