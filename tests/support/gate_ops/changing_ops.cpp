// One library before (CHANGED=0) and after (CHANGED=1) a change; each operator changes in one way.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

namespace {

using at::Tensor;
using c10::SymInt;

Tensor like(const Tensor& x) { return x.new_empty_symint(x.sym_sizes()); }
Tensor zeros(const Tensor& x) { return at::zeros(x.sizes(), x.options()); }
Tensor padded(const Tensor& x) { return at::zeros({(x.size(0) + 63) / 64 * 64, x.size(1)}, x.options()); }

Tensor untouched_meta(const Tensor& x) { return like(x); }

Tensor equal_meta(const Tensor& x) {
#if CHANGED
  return x.new_empty_symint({x.sym_size(0) + (64 - x.sym_size(0) % 64) % 64, x.sym_size(1)});
#else
  return x.new_empty_symint({(x.sym_size(0) + 63) / 64 * 64, x.sym_size(1)});
#endif
}

Tensor unsound_meta(const Tensor& x) {
#if CHANGED
  return x.new_empty_symint({x.sym_size(0) / 64 * 64 + 64, x.sym_size(1)});
#else
  return x.new_empty_symint({(x.sym_size(0) + 63) / 64 * 64, x.sym_size(1)});
#endif
}

Tensor specialised_meta(const Tensor& x) {
#if CHANGED
  return at::empty({x.size(0), x.size(1)}, x.options());
#else
  return like(x);
#endif
}

Tensor narrowed_meta(const Tensor& x) {
#if CHANGED
  TORCH_CHECK(x.sym_size(0) != 3, "three rows are not supported");
#endif
  return like(x);
}
Tensor narrowed(const Tensor& x) {
#if CHANGED
  TORCH_CHECK(x.size(0) != 3, "three rows are not supported");
#endif
  return zeros(x);
}

Tensor widened_meta(const Tensor& x) {
#if !CHANGED
  TORCH_CHECK(x.sym_size(0) != 5, "five rows are not supported");
#endif
  return like(x);
}
Tensor widened(const Tensor& x) {
#if !CHANGED
  TORCH_CHECK(x.size(0) != 5, "five rows are not supported");
#endif
  return zeros(x);
}

Tensor fixed_meta(const Tensor& x) {
#if CHANGED
  return like(x);
#else
  return x.new_empty_symint({x.sym_size(0)});
#endif
}

// Right on both sides, but a row more: only near 4096, which the condition names.
Tensor changed(const Tensor& x) {
  return at::zeros({x.size(0) + (CHANGED && x.size(0) > 4096), x.size(1)}, x.options());
}
Tensor changed_meta(const Tensor& x) {
  SymInt rows = x.sym_size(0);
#if CHANGED
  if (rows > 4096) rows = rows + 1;
#endif
  return x.new_empty_symint({rows, x.sym_size(1)});
}

Tensor schema(const Tensor& x, bool) { return zeros(x); }
Tensor schema_meta(const Tensor& x, bool) { return like(x); }

}  // namespace

TORCH_LIBRARY(changing, m) {
  m.def("untouched(Tensor x) -> Tensor");
  m.def("equal(Tensor x) -> Tensor");
  m.def("unsound(Tensor x) -> Tensor");
  m.def("specialised(Tensor x) -> Tensor");
  m.def("narrowed(Tensor x) -> Tensor");
  m.def("widened(Tensor x) -> Tensor");
  m.def("fixed(Tensor x) -> Tensor");
  m.def("changed(Tensor x) -> Tensor");
  m.def("still_faulty(Tensor x) -> Tensor");
#if CHANGED
  m.def("schema(Tensor x, bool flag=True) -> Tensor");
  m.def("added(Tensor x) -> Tensor");
#else
  m.def("schema(Tensor x, bool flag=False) -> Tensor");
  m.def("removed(Tensor x) -> Tensor");
#endif
}

TORCH_LIBRARY_IMPL(changing, CPU, m) {
  m.impl("untouched", zeros);
  m.impl("equal", padded);
  m.impl("unsound", padded);
  m.impl("specialised", zeros);
  m.impl("narrowed", narrowed);
  m.impl("widened", widened);
  m.impl("fixed", zeros);
  m.impl("changed", changed);
  m.impl("still_faulty", padded);
  m.impl("schema", schema);
  m.impl(CHANGED ? "added" : "removed", zeros);
}

TORCH_LIBRARY_IMPL(changing, Meta, m) {
  m.impl("untouched", untouched_meta);
  m.impl("equal", equal_meta);
  m.impl("unsound", unsound_meta);
  m.impl("specialised", specialised_meta);
  m.impl("narrowed", narrowed_meta);
  m.impl("widened", widened_meta);
  m.impl("fixed", fixed_meta);
  m.impl("changed", changed_meta);
  m.impl("still_faulty", like);
  m.impl("schema", schema_meta);
  m.impl(CHANGED ? "added" : "removed", like);
}
