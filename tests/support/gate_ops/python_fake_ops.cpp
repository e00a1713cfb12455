// Kernels of operators whose fakes are Python (python_fake_ops.py). A kernel with a fault of its own says so here.

#include <ATen/ATen.h>
#include <torch/library.h>

#include <vector>

namespace {

using at::Tensor;

Tensor copy(const Tensor& x) { return x.clone(at::MemoryFormat::Contiguous); }
Tensor four_columns(const Tensor& x) { return at::zeros({x.size(0), 4}, x.options()); }
Tensor doubled(const Tensor& x) { return at::zeros({2 * x.size(0), x.size(1)}, x.options()); }
Tensor blocks(const Tensor& x) { return at::zeros({(x.size(0) + 3) / 4, x.size(1)}, x.options()); }
Tensor transposed(const Tensor& x) { return x.transpose(0, 1); }
Tensor tail(const Tensor& x) { return x.slice(1, 1); }
Tensor as_half(const Tensor& x) { return copy(x).to(at::kHalf); }
std::vector<Tensor> three(const Tensor& x) { return {copy(x), copy(x), copy(x)}; }
Tensor positive_rows(const Tensor& x) { return (copy(x) > 0).nonzero(); }
Tensor rows(const Tensor& x, int64_t count) { return at::zeros({count, x.size(1)}, x.options()); }
Tensor joined(at::TensorList xs) { return at::cat(xs, 0).contiguous(); }
Tensor with_bias(const Tensor& x, const std::optional<Tensor>& bias) { return bias ? copy(x + *bias) : copy(x); }
Tensor cast(const Tensor& x, std::optional<at::ScalarType> dtype) { return copy(x).to(dtype.value_or(at::kDouble)); }
void add_one(Tensor& x) { x.add_(1); }

Tensor sum_too_far(const Tensor& x) {
  const Tensor in = copy(x), out = at::zeros({1}, x.options());
  float sum = 0;
  for (int64_t i = 0; i <= in.numel(); ++i) sum += in.data_ptr<float>()[i];  // PLANTED overruns kernel-overruns
  out.fill_(sum);
  return out;
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(pyfake, m) {
  m.set_python_module("python_fake_ops");
  m.def("by_int(Tensor x) -> Tensor");
  m.def("by_range(Tensor x) -> Tensor");
  m.def("by_product(Tensor x) -> Tensor");
  m.def("too_small(Tensor x) -> Tensor");
  m.def("rounded(Tensor x) -> Tensor");
  m.def("strides(Tensor x) -> Tensor");
  m.def("offset(Tensor(a) x) -> Tensor(a)");
  m.def("dtype(Tensor x) -> Tensor");
  m.def("alias(Tensor(a) x) -> Tensor(a)");
  m.def("count(Tensor x) -> Tensor[]");
  m.def("raises(Tensor x) -> Tensor");
  m.def("guards(Tensor x) -> Tensor");
  m.def("at_one(Tensor x) -> Tensor");
  m.def("unbacked_columns(Tensor x) -> Tensor");
  m.def("unbacked_range(Tensor x) -> Tensor");
  m.def("unbacked_dtype(Tensor x) -> Tensor");
  m.def("reads_item(Tensor x) -> Tensor");
  m.def("reads_branch(Tensor x) -> Tensor");
  m.def("reads_memory(Tensor x) -> Tensor");
  m.def("int_size(Tensor x, int count) -> Tensor");
  m.def("dies(Tensor x) -> Tensor");
  m.def("no_fake(Tensor x) -> Tensor");  // PLANTED no_fake meta-missing
  m.def("right_copy(Tensor x) -> Tensor");
  m.def("right_view(Tensor(a) x) -> Tensor(a)");
  m.def("right_tail(Tensor(a) x) -> Tensor(a)");
  m.def("right_blocks(Tensor x) -> Tensor");
  m.def("right_rows(Tensor x, SymInt count) -> Tensor");
  m.def("right_list(Tensor[] xs) -> Tensor");
  m.def("right_three(Tensor x) -> Tensor[]");
  m.def("right_positive(Tensor x) -> Tensor");
  m.def("right_guard(Tensor x) -> Tensor");
  m.def("right_cast(Tensor x, ScalarType? dtype=None) -> Tensor");
  m.def("right_in_place(Tensor(a!) x) -> ()");
}

// A library need not name the module.
TORCH_LIBRARY_FRAGMENT(pyfake_unnamed, m) {
  m.def("overruns(Tensor x) -> Tensor");
  m.def("right_bias(Tensor x, Tensor? bias=None) -> Tensor");
  m.def("elsewhere(Tensor x) -> Tensor");
}

// In a module that a test makes hang, or die.
TORCH_LIBRARY_FRAGMENT(pyfake_hang, m) {
  m.set_python_module("python_fake_ops");
  m.def("hangs(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(pyfake, CPU, m) {
  m.impl("by_int", four_columns);
  m.impl("by_range", four_columns);
  m.impl("by_product", copy);
  m.impl("too_small", doubled);
  m.impl("rounded", blocks);
  m.impl("strides", copy);
  m.impl("offset", tail);
  m.impl("dtype", as_half);
  m.impl("alias", transposed);
  m.impl("count", three);
  m.impl("raises", copy);
  m.impl("guards", copy);
  m.impl("at_one", copy);
  m.impl("unbacked_columns", positive_rows);
  m.impl("unbacked_range", positive_rows);
  m.impl("unbacked_dtype", positive_rows);
  m.impl("reads_item", copy);
  m.impl("reads_branch", copy);
  m.impl("reads_memory", copy);
  m.impl("int_size", rows);
  m.impl("dies", copy);
  m.impl("no_fake", copy);
  m.impl("right_copy", copy);
  m.impl("right_view", transposed);
  m.impl("right_tail", tail);
  m.impl("right_blocks", blocks);
  m.impl("right_rows", rows);
  m.impl("right_list", joined);
  m.impl("right_three", three);
  m.impl("right_positive", positive_rows);
  m.impl("right_guard", copy);
  m.impl("right_cast", cast);
  m.impl("right_in_place", add_one);
}

TORCH_LIBRARY_IMPL(pyfake_unnamed, CPU, m) {
  m.impl("overruns", sum_too_far);
  m.impl("right_bias", with_bias);
  m.impl("elsewhere", copy);
}

TORCH_LIBRARY_IMPL(pyfake_hang, CPU, m) { m.impl("hangs", copy); }
