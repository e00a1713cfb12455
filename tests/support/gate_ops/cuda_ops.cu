// Kernels of cuda_ops.cpp, right ones and some with one planted fault each. Without torch's headers, so that any nvcc
// compiles them.

#include <cassert>

#include "cuda_kernels.h"

namespace {

constexpr int kThreads = 128;

unsigned blocks_of(int64_t n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

__device__ int64_t index() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

__global__ void scale(const float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = x[i] * 2;
}

__global__ void row_sums(const float* x, float* out, int64_t n, int64_t columns) {
  const int64_t i = index();
  if (i < n) atomicAdd(out + i / columns, x[i]);
}

__global__ void write_past(const float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = x[i];
  if (i == n) out[i] = 1;
}

__global__ void read_past(const float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = x[i];
  if (i == n - 1) out[i] = x[i] + 0 * *static_cast<const volatile float*>(x + n);
}

__global__ void leave_tail(const float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n - 1) out[i] = x[i];
}

__global__ void add_temporary(const float* x, const float* temporary, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = x[i] + temporary[i] * 1e20f;
}

__global__ void change_input(float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = 1;
  if (i == 0) x[0] = 99;
}

__global__ void wild(const float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = x[i];
  if (i == 0) *reinterpret_cast<volatile float*>(int64_t{1} << 42) = 1;
}

__global__ void fails(const float* x, float* out, int64_t n) {
  const int64_t i = index();
  if (i < n) out[i] = x[i];
  assert(n < 0);
}

int code_of_launch() { return static_cast<int>(cudaGetLastError()); }

}  // namespace

int launch_scale(const float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  scale<<<blocks_of(n), kThreads>>>(x, out, n);
  return code_of_launch();
}

int launch_row_sums(const float* x, float* out, int64_t rows, int64_t columns) {
  if (rows * columns == 0) return 0;
  row_sums<<<blocks_of(rows * columns), kThreads>>>(x, out, rows * columns, columns);
  return code_of_launch();
}

int launch_write_past(const float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  write_past<<<blocks_of(n + 1), kThreads>>>(x, out, n);
  return code_of_launch();
}

int launch_read_past(const float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  read_past<<<blocks_of(n), kThreads>>>(x, out, n);
  return code_of_launch();
}

int launch_leave_tail(const float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  leave_tail<<<blocks_of(n), kThreads>>>(x, out, n);
  return code_of_launch();
}

int launch_add_temporary(const float* x, const float* temporary, float* out, int64_t n) {
  if (n == 0) return 0;
  add_temporary<<<blocks_of(n), kThreads>>>(x, temporary, out, n);
  return code_of_launch();
}

int launch_change_input(float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  change_input<<<blocks_of(n), kThreads>>>(x, out, n);
  return code_of_launch();
}

int launch_wild(const float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  wild<<<blocks_of(n), kThreads>>>(x, out, n);
  return code_of_launch();
}

int launch_assert(const float* x, float* out, int64_t n) {
  if (n == 0) return 0;
  fails<<<blocks_of(n), kThreads>>>(x, out, n);
  return code_of_launch();
}

void launch_unchecked(const float* x, float* out, int64_t n) { scale<<<blocks_of(n), kThreads>>>(x, out, n); }
