#include "core/element_convert.h"

#include <bit>

#include "core/check.h"

namespace aotifuzz {
namespace {

constexpr uint32_t kSignMask = 0x80000000u;
constexpr uint32_t kInfBits = 0x7f800000u;

/// Bits of the nearest value with kMantissa bits of mantissa and exponent bias kBias, sign aside. May be one of the
/// codes past the format's largest number: the caller knows what these mean. `magnitude`: finite float32 bits without
/// sign.
template <int kMantissa, int kBias>
uint32_t round_magnitude(uint32_t magnitude) {
  constexpr uint32_t kShift = 23 - kMantissa;
  constexpr uint32_t kMinNormal = static_cast<uint32_t>(128 - kBias) << 23;
  if (magnitude >= kMinNormal) {
    const uint32_t rebased = magnitude - (static_cast<uint32_t>(127 - kBias) << 23);
    return (rebased + ((1u << (kShift - 1)) - 1) + ((rebased >> kShift) & 1)) >> kShift;
  }
  // Subnormal in the target: count units of 2^(1 - kBias - kMantissa).
  const uint32_t exponent = magnitude >> 23;
  const uint32_t mantissa = (magnitude & 0x7fffffu) | (exponent != 0 ? 0x800000u : 0u);
  const int shift = 151 - kBias - kMantissa - static_cast<int>(exponent != 0 ? exponent : 1);
  if (shift > 25) return 0;
  const uint32_t code = mantissa >> shift;
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  return code + (rest > half || (rest == half && (code & 1) != 0) ? 1 : 0);
}

template <int kMantissa, int kBias>
uint8_t to_fnuz_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSignMask;
  if (magnitude >= kInfBits) return 0x80;
  const uint32_t code = round_magnitude<kMantissa, kBias>(magnitude);
  if (code == 0) return 0;
  if (code >= 0x80) return 0x80;
  return static_cast<uint8_t>(code | ((bits & kSignMask) >> 24));
}

template <class T, class Out>
void store(const T* values, int64_t count, void* out, Out (*convert)(T)) {
  Out* target = static_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) target[i] = convert(values[i]);
}

template <class T>
void convert_all(const T* values, int64_t count, Dtype dtype, void* out) {
  const auto small_float = [&]<class Out>(Out (*bits)(float)) {
    Out* target = static_cast<Out*>(out);
    for (int64_t i = 0; i < count; ++i) target[i] = bits(static_cast<float>(static_cast<double>(values[i])));
  };
  const auto integer = [](T value) -> int64_t {
    if constexpr (std::is_same_v<T, int64_t>)
      return value;
    else
      return to_int64(Number{value});
  };
  const auto integral = [&]<class Out>(Out) {
    Out* target = static_cast<Out*>(out);
    for (int64_t i = 0; i < count; ++i) target[i] = static_cast<Out>(integer(values[i]));
  };
  switch (dtype) {
    case Dtype::kF32: {
      float* target = static_cast<float*>(out);
      for (int64_t i = 0; i < count; ++i) target[i] = static_cast<float>(static_cast<double>(values[i]));
      return;
    }
    case Dtype::kF64: {
      double* target = static_cast<double*>(out);
      for (int64_t i = 0; i < count; ++i) target[i] = static_cast<double>(values[i]);
      return;
    }
    case Dtype::kC32: {
      uint16_t* target = static_cast<uint16_t*>(out);
      for (int64_t i = 0; i < count; ++i) {
        target[2 * i] = to_f16_bits(static_cast<float>(static_cast<double>(values[i])));
        target[2 * i + 1] = 0;
      }
      return;
    }
    case Dtype::kC64: {
      float* target = static_cast<float*>(out);
      for (int64_t i = 0; i < count; ++i) {
        target[2 * i] = static_cast<float>(static_cast<double>(values[i]));
        target[2 * i + 1] = 0;
      }
      return;
    }
    case Dtype::kC128: {
      double* target = static_cast<double*>(out);
      for (int64_t i = 0; i < count; ++i) {
        target[2 * i] = static_cast<double>(values[i]);
        target[2 * i + 1] = 0;
      }
      return;
    }
    case Dtype::kF16:
      return small_float(&to_f16_bits);
    case Dtype::kBF16:
      return small_float(&to_bf16_bits);
    case Dtype::kF8E4M3FN:
      return small_float(&to_f8e4m3fn_bits);
    case Dtype::kF8E5M2:
      return small_float(&to_f8e5m2_bits);
    case Dtype::kF8E4M3FNUZ:
      return small_float(&to_f8e4m3fnuz_bits);
    case Dtype::kF8E5M2FNUZ:
      return small_float(&to_f8e5m2fnuz_bits);
    case Dtype::kF8E8M0FNU:
      return small_float(&to_f8e8m0fnu_bits);
    case Dtype::kBool: {
      uint8_t* target = static_cast<uint8_t*>(out);
      for (int64_t i = 0; i < count; ++i) target[i] = values[i] != 0 ? 1 : 0;
      return;
    }
    case Dtype::kU8:
    case Dtype::kI8:
      return integral(uint8_t{});
    case Dtype::kI16:
    case Dtype::kU16:
      return integral(uint16_t{});
    case Dtype::kI32:
    case Dtype::kU32:
      return integral(uint32_t{});
    case Dtype::kI64:
    case Dtype::kU64:
      return integral(uint64_t{});
    case Dtype::kUnknown:
      break;
  }
  AOTIFUZZ_CHECK(false) << "no elements of dtype " << static_cast<int>(dtype);
}

}  // namespace

uint16_t to_f16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSignMask;
  const uint32_t sign = (bits & kSignMask) >> 16;
  if (magnitude > kInfBits) return static_cast<uint16_t>(sign | 0x7e00u);
  uint32_t code = magnitude == kInfBits ? 0x7c00u : round_magnitude<10, 15>(magnitude);
  if (code > 0x7c00u) code = 0x7c00u;
  return static_cast<uint16_t>(sign | code);
}

uint16_t to_bf16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & ~kSignMask) > kInfBits) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

uint8_t to_f8e4m3fn_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSignMask;
  uint32_t code = magnitude >= kInfBits ? 0x7fu : round_magnitude<3, 7>(magnitude);
  if (code > 0x7fu) code = 0x7fu;
  return static_cast<uint8_t>(code | ((bits & kSignMask) >> 24));
}

uint8_t to_f8e5m2_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSignMask;
  const uint32_t sign = (bits & kSignMask) >> 24;
  if (magnitude > kInfBits) return static_cast<uint8_t>(0x7fu | sign);
  uint32_t code = magnitude == kInfBits ? 0x7cu : round_magnitude<2, 15>(magnitude);
  if (code > 0x7cu) code = 0x7cu;
  return static_cast<uint8_t>(code | sign);
}

uint8_t to_f8e4m3fnuz_bits(float value) { return to_fnuz_bits<3, 8>(value); }

uint8_t to_f8e5m2fnuz_bits(float value) { return to_fnuz_bits<2, 16>(value); }

uint8_t to_f8e8m0fnu_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t exponent = (bits >> 23) & 0xffu;
  if (exponent == 0xffu) return 0xff;
  // The implied bit decides a tie: a normal number's is odd, a subnormal's even.
  const uint32_t mantissa = bits & 0x7fffffu;
  const bool up = mantissa > 0x400000u || (mantissa == 0x400000u && exponent > 0);
  return static_cast<uint8_t>(exponent + (up ? 1 : 0));
}

void convert_reals(const double* values, int64_t count, Dtype dtype, void* out) {
  convert_all(values, count, dtype, out);
}

void convert_integers(const int64_t* values, int64_t count, Dtype dtype, void* out) {
  convert_all(values, count, dtype, out);
}

void convert_number(Number value, Dtype dtype, void* out) {
  if (const int64_t* integer = std::get_if<int64_t>(&value))
    convert_all(integer, 1, dtype, out);
  else
    convert_all(&std::get<double>(value), 1, dtype, out);
}

}  // namespace aotifuzz
