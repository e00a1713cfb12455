#pragma once

#include <cstdint>

/// A library that looks to the linker like a package's: kernels that are called through its linkage table.
extern "C" {
/// Fourteen arguments: beyond the registers for integers, and floating ones between. Returns nothing, as kernels do.
void cpp_weighted_sum(int64_t a, const float* b, int64_t c, double d, int64_t e, int64_t f, float g, int64_t h,
                      int64_t i, int64_t j, double k, int64_t l, int64_t m, double* out);
void cpp_throws(int64_t value);
/// Reads data[index].
void cpp_reads(const float* data, int64_t index, float* out);
void not_a_kernel(int64_t* out);

/// What a package's run does: calls its kernels.
double run_weighted_sum(const float* b);
void run_throws(int64_t value);
void run_reads(const float* data, int64_t index, float* out);
void run_not_a_kernel(int64_t* out);
}
