// An operator whose kernel calls a function of another library (row_counter.cpp), which this one is not linked to.

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

extern "C" int64_t aotifuzz_test_row_count(int64_t rows);

namespace {

at::Tensor doubled(const at::Tensor& x) {
  return at::zeros({aotifuzz_test_row_count(x.size(0)), x.size(1)}, x.options());
}
at::Tensor doubled_meta(const at::Tensor& x) { return x.new_empty_symint({x.sym_size(0) * 2, x.sym_size(1)}); }

}  // namespace

TORCH_LIBRARY(dependent, m) { m.def("doubled(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(dependent, CPU, m) { m.impl("doubled", doubled); }
TORCH_LIBRARY_IMPL(dependent, Meta, m) { m.impl("doubled", doubled_meta); }
