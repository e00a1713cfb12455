// explain_ops::double of the model custom_operator, as a library that a test loads with --ops. EXPLAIN_OP chooses how
// it fails: short (a row less than its fake declares), abort, heap, hang, illegal, divide, exhaust; unset = it is
// right.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

at::Tensor twice(const at::Tensor& x) {
  const char* variable = std::getenv("EXPLAIN_OP");
  std::string fault = variable ? variable : "";
  // The reference calls it first.
  static int calls = 0;
  ++calls;
  if (fault.starts_with("later-")) fault = calls > 1 ? fault.substr(6) : "";
  if (fault == "short") return x.narrow(0, 0, x.size(0) - 1) * 2;
  if (fault == "abort") std::abort();
  if (fault == "heap") {
    auto* volatile bytes = static_cast<volatile char*>(std::malloc(24));
    for (int i = -8; i < 0; ++i) bytes[i] = 0x5a;
    std::free(const_cast<char*>(bytes));
  }
  while (fault == "hang") std::this_thread::yield();
  if (fault == "illegal") __builtin_trap();
  if (fault == "divide") std::raise(SIGFPE);
  if (fault == "exhaust") return at::empty({int64_t{1} << 46}, x.options());
  if (fault == "refuse") TORCH_CHECK(false, "double: index 7 is out of bounds for dimension 0 with size 5");
  return x * 2;
}

TORCH_LIBRARY(explain_ops, m) {
  m.def("double(Tensor x) -> Tensor");
  m.impl("double", c10::DispatchKey::CompositeExplicitAutograd, TORCH_FN(twice));
}

}  // namespace
