#include "tests/support/planted_kernels.h"

#include <stdexcept>
#include <string>

extern "C" {

void cpp_weighted_sum(int64_t a, const float* b, int64_t c, double d, int64_t e, int64_t f, float g, int64_t h,
                      int64_t i, int64_t j, double k, int64_t l, int64_t m, double* out) {
  *out = a + 2 * b[0] + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m;
}
void cpp_throws(int64_t value) { throw std::runtime_error("value " + std::to_string(value)); }
void cpp_fused_add_0(const float* a, const float* b, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
void cpp_fused_mul_1(float* a, const float* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) a[i] *= b[i];
}
void cpp_reads(const float* data, int64_t index, float* out) { *out = data[index]; }
void not_a_kernel(int64_t* out) { *out = 1; }

double run_weighted_sum(const float* b) {
  double out = 0;
  cpp_weighted_sum(1, b, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, &out);
  return out;
}
void run_throws(int64_t value) { cpp_throws(value); }
void run_add_mul(const float* a, const float* b, float* out, int64_t n, int64_t forget, int64_t spoil) {
  for (int64_t i = 0; i < n; ++i) out[i] = 0;
  cpp_fused_add_0(a, b, out, n - forget);
  for (int64_t i = 0; i < spoil; ++i) out[i] = 77;
  cpp_fused_mul_1(out, b, n);
}
void run_reads(const float* data, int64_t index, float* out) {
  cpp_reads(data, index, out);
  out[0] += 1;  // so that this frame is still there during the call
}
void run_not_a_kernel(int64_t* out) { not_a_kernel(out); }
}
