#pragma once

#include <cstdint>

// Launchers of cuda_ops.cu, for cuda_ops.cpp: device pointers to n floats; the code of the launch.
int launch_scale(const float* x, float* out, int64_t n);
/// One sum a row of `columns`, added up by atomics into `out`, which holds zeros.
int launch_row_sums(const float* x, float* out, int64_t rows, int64_t columns);
/// Writes out[n] too.
int launch_write_past(const float* x, float* out, int64_t n);
/// Adds x[n] to the last element.
int launch_read_past(const float* x, float* out, int64_t n);
/// Writes all but the last element.
int launch_leave_tail(const float* x, float* out, int64_t n);
/// Adds the temporary, which nobody wrote.
int launch_add_temporary(const float* x, const float* temporary, float* out, int64_t n);
/// Sets x[0], an input.
int launch_change_input(float* x, float* out, int64_t n);
/// Writes to an address that is nobody's.
int launch_wild(const float* x, float* out, int64_t n);
/// Asserts what does not hold.
int launch_assert(const float* x, float* out, int64_t n);
/// Does not look whether there is anything to do, nor whether the launch went well.
void launch_unchecked(const float* x, float* out, int64_t n);
