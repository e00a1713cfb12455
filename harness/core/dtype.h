#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace aotifuzz {

/// Element types by the codes of the export schema (torch/_export/serde/schema.py, ScalarType): they are what a package
/// stores, and they have been stable since schema 8. The worker maps them to c10::ScalarType in one place.
enum class Dtype : uint8_t {
  kUnknown = 0, kU8 = 1, kI8 = 2, kI16 = 3, kI32 = 4, kI64 = 5, kF16 = 6, kF32 = 7, kF64 = 8,
  kC32 = 9, kC64 = 10, kC128 = 11, kBool = 12, kBF16 = 13, kU16 = 28,
  kF8E4M3FN = 29, kF8E5M2 = 30, kF8E4M3FNUZ = 31, kF8E5M2FNUZ = 32, kF8E8M0FNU = 33, kU32 = 34, kU64 = 35,
};

/// Short name as case text prints it: "f32", "bf16", "i64", "bool", "f8e4m3fn"...
std::string_view dtype_name(Dtype dtype);
std::optional<Dtype> dtype_from_name(std::string_view name);
/// nullopt for a code that the schema does not have.
std::optional<Dtype> dtype_from_schema(int64_t code);
/// Python spelling, "torch.float32"; used by reproducers.
std::string_view dtype_torch_name(Dtype dtype);

int64_t dtype_bytes(Dtype dtype);
bool dtype_is_floating(Dtype dtype);  ///< real floating types, float8 included
bool dtype_is_complex(Dtype dtype);
bool dtype_is_integral(Dtype dtype);  ///< bool excluded

/// Inclusive value range of an integral type as far as int64 can hold it (u64 ends at INT64_MAX).
struct IntegralRange { int64_t min, max; };
IntegralRange dtype_integral_range(Dtype dtype);

}  // namespace aotifuzz
