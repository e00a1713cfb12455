#pragma once

#include <cstdint>

/// A library that looks to the linker like a package's: kernels that are called through its linkage table.
extern "C" {
/// Fourteen arguments: beyond the registers for integers, and floating ones between. Returns nothing, as kernels do.
void cpp_weighted_sum(int64_t a, const float* b, int64_t c, double d, int64_t e, int64_t f, float g, int64_t h,
                      int64_t i, int64_t j, double k, int64_t l, int64_t m, double* out);
void cpp_throws(int64_t value);
/// What generated kernels look like: out = a + b, elements [0, n).
void cpp_fused_add_0(const float* a, const float* b, float* out, int64_t n);
/// a *= b, in place.
void cpp_fused_mul_1(float* a, const float* b, int64_t n);
/// Reads data[index].
void cpp_reads(const float* data, int64_t index, float* out);
void not_a_kernel(int64_t* out);

/// What a package's run does: calls its kernels.
double run_weighted_sum(const float* b);
void run_throws(int64_t value);
/// (a + b) * b into `out`. `forget` elements at the end are left out by the addition, and `spoil` elements of the sum
/// are overwritten between the two kernels.
void run_add_mul(const float* a, const float* b, float* out, int64_t n, int64_t forget, int64_t spoil);
void run_reads(const float* data, int64_t index, float* out);
void run_not_a_kernel(int64_t* out);
}
