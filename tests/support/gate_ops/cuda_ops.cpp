// Operators on CUDA for tests/gpu/gate.sh. "EXPECT operator status kind" is what the gate must say of it: that kind of
// fault, and no other. The kernels lie in cuda_ops.cu.

#include <ATen/ATen.h>
#include <torch/library.h>

#include "cuda_kernels.h"

namespace {

using at::Tensor;

/// Launches on contiguous memory.
template <class Launch>
Tensor on(const Tensor& x, Tensor out, Launch launch) {
  TORCH_CHECK(x.scalar_type() == at::kFloat && x.dim() == 2, "a matrix of floats");
  const Tensor in = x.contiguous();
  const int code = launch(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());
  TORCH_CHECK(code == 0, "the launch failed with ", code);
  return out;
}
Tensor like(const Tensor& x) { return at::empty(x.sizes(), x.options()); }
Tensor like_meta(const Tensor& x) { return x.new_empty_symint(x.sym_sizes()); }

// EXPECT scale ok
Tensor scale(const Tensor& x) { return on(x, like(x), launch_scale); }

// EXPECT scale.out ok
Tensor& scale_out(const Tensor& x, Tensor& out) {
  TORCH_CHECK(out.sizes() == x.sizes() && out.is_contiguous(), "a matrix like x");
  on(x, out, launch_scale);
  return out;
}
Tensor& scale_out_meta(const Tensor&, Tensor& out) { return out; }

// EXPECT row_sums ok
Tensor row_sums(const Tensor& x) {
  const int64_t columns = x.size(1);
  return on(x, at::zeros({x.size(0)}, x.options()), [columns](const float* in, float* out, int64_t n) {
    return columns == 0 ? 0 : launch_row_sums(in, out, n / columns, columns);
  });
}
Tensor row_sums_meta(const Tensor& x) { return x.new_empty_symint({x.sym_size(0)}); }

// EXPECT add_ ok
Tensor& add_(Tensor& x, const Tensor& y) { return x.add_(y); }
Tensor& add__meta(Tensor& x, const Tensor&) { return x; }

// EXPECT turned ok
Tensor turned(const Tensor& x) { return x.transpose(0, 1); }

// EXPECT writes_past faults kernel-overruns
Tensor writes_past(const Tensor& x) { return on(x, like(x), launch_write_past); }

// EXPECT reads_past faults kernel-overruns
Tensor reads_past(const Tensor& x) { return on(x, like(x), launch_read_past); }

// EXPECT leaves_tail faults kernel-unwritten
Tensor leaves_tail(const Tensor& x) { return on(x, like(x), launch_leave_tail); }

// EXPECT adds_temporary faults kernel-reads-unwritten
Tensor adds_temporary(const Tensor& x) {
  const Tensor temporary = like(x);
  return on(x, like(x), [&temporary](const float* in, float* out, int64_t n) {
    return launch_add_temporary(in, temporary.data_ptr<float>(), out, n);
  });
}

// EXPECT changes_input faults hidden-mutation
Tensor changes_input(const Tensor& x) {
  return on(x, like(x), [](float* in, float* out, int64_t n) { return launch_change_input(in, out, n); });
}

// EXPECT writes_wildly faults kernel-overruns
Tensor writes_wildly(const Tensor& x) { return on(x, like(x), launch_wild); }

// EXPECT asserts faults kernel-crashes
Tensor asserts(const Tensor& x) { return on(x, like(x), launch_assert); }

// EXPECT longer faults meta-wrong-size
Tensor longer(const Tensor& x) { return at::zeros({x.size(0), x.size(1) + 1}, x.options()); }

// The kernel writes what `longer` makes into what its meta declares.
// EXPECT longer.out faults kernel-overruns
Tensor& longer_out(const Tensor& x, Tensor& out) {
  const Tensor wide = longer(x);
  const int code = launch_scale(wide.data_ptr<float>(), out.data_ptr<float>(), wide.numel());
  TORCH_CHECK(code == 0, "the launch failed with ", code);
  return out;
}

// EXPECT elsewhere faults meta-wrong-device
Tensor elsewhere(const Tensor& x) { return x.contiguous().cpu(); }

// EXPECT shares faults undeclared-alias
Tensor shares(const Tensor& x) { return x.transpose(0, 1); }
Tensor shares_meta(const Tensor& x) { return x.new_empty_symint({x.sym_size(1), x.sym_size(0)}); }

// EXPECT unchecked faults one-sided-error
Tensor unchecked(const Tensor& x) {
  return on(x, like(x), [](const float* in, float* out, int64_t n) {
    launch_unchecked(in, out, n);
    return 0;
  });
}

// EXPECT on_the_host not-judged
Tensor on_the_host(const Tensor& x) { return x.contiguous().clone(); }

}  // namespace

TORCH_LIBRARY(gpu, m) {
  for (const char* name :
       {"scale", "row_sums", "writes_past", "reads_past", "leaves_tail", "adds_temporary", "changes_input",
        "writes_wildly", "asserts", "longer", "elsewhere", "shares", "unchecked", "on_the_host"})
    m.def((std::string(name) + "(Tensor x) -> Tensor").c_str());
  m.def("scale.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("longer.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.def("add_(Tensor(a!) x, Tensor y) -> Tensor(a!)");
  m.def("turned(Tensor(a) x) -> Tensor(a)");
}
TORCH_LIBRARY_IMPL(gpu, CUDA, m) {
  m.impl("scale", scale);
  m.impl("scale.out", scale_out);
  m.impl("row_sums", row_sums);
  m.impl("add_", add_);
  m.impl("turned", turned);
  m.impl("writes_past", writes_past);
  m.impl("reads_past", reads_past);
  m.impl("leaves_tail", leaves_tail);
  m.impl("adds_temporary", adds_temporary);
  m.impl("changes_input", changes_input);
  m.impl("writes_wildly", writes_wildly);
  m.impl("asserts", asserts);
  m.impl("longer", longer);
  m.impl("longer.out", longer_out);
  m.impl("elsewhere", elsewhere);
  m.impl("shares", shares);
  m.impl("unchecked", unchecked);
}
TORCH_LIBRARY_IMPL(gpu, CPU, m) { m.impl("on_the_host", on_the_host); }
TORCH_LIBRARY_IMPL(gpu, Meta, m) {
  for (const char* name : {"scale", "writes_past", "reads_past", "leaves_tail", "adds_temporary", "changes_input",
                           "writes_wildly", "asserts", "longer", "elsewhere", "unchecked", "on_the_host"})
    m.impl(name, like_meta);
  m.impl("scale.out", scale_out_meta);
  m.impl("longer.out", scale_out_meta);
  m.impl("row_sums", row_sums_meta);
  m.impl("add_", add__meta);
  m.impl("turned", turned);
  m.impl("shares", shares_meta);
}
