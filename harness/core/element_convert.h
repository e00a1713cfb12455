#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "core/value_recipe.h"

namespace aotifuzz {

/// Conversions from a recipe's numbers to tensor elements, written out so that they give the same bits on every
/// machine, whatever its rounding or flush-to-zero mode. Float results round to nearest, ties to even, and agree with
/// c10's.

uint16_t to_f16_bits(float value);        ///< NaN: 0x7e00 and the sign
uint16_t to_bf16_bits(float value);       ///< NaN: 0x7fc0
uint8_t to_f8e4m3fn_bits(float value);    ///< no infinity: what is too large becomes NaN, 0x7f and the sign
uint8_t to_f8e5m2_bits(float value);      ///< NaN: 0x7f and the sign
uint8_t to_f8e4m3fnuz_bits(float value);  ///< one NaN, 0x80, also for infinity and what is too large; no -0
uint8_t to_f8e5m2fnuz_bits(float value);  ///< likewise
uint8_t to_f8e8m0fnu_bits(float value);   ///< power of two without sign; NaN 0xff

/// Elements of `dtype` from doubles or integers, dense. Complex dtypes take the values as real parts, imaginary parts
/// 0. Integers above 2^53 pass through double on their way to a floating dtype, as Python numbers do.
void convert_reals(const double* values, int64_t count, Dtype dtype, void* out);
void convert_integers(const int64_t* values, int64_t count, Dtype dtype, void* out);
void convert_number(Number value, Dtype dtype, void* out);

}  // namespace aotifuzz
