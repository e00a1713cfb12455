#include "core/dtype.h"

#include <array>
#include <limits>

namespace aotifuzz {
namespace {

enum class Family : uint8_t { kNone, kBool, kSigned, kUnsigned, kFloating, kComplex };

struct Row {
  Dtype dtype;
  std::string_view name;
  std::string_view torch_name;
  int64_t bytes;
  Family family;
};

constexpr std::array<Row, 22> kRows = {{
    {Dtype::kU8, "u8", "torch.uint8", 1, Family::kUnsigned},
    {Dtype::kI8, "i8", "torch.int8", 1, Family::kSigned},
    {Dtype::kI16, "i16", "torch.int16", 2, Family::kSigned},
    {Dtype::kI32, "i32", "torch.int32", 4, Family::kSigned},
    {Dtype::kI64, "i64", "torch.int64", 8, Family::kSigned},
    {Dtype::kF16, "f16", "torch.float16", 2, Family::kFloating},
    {Dtype::kF32, "f32", "torch.float32", 4, Family::kFloating},
    {Dtype::kF64, "f64", "torch.float64", 8, Family::kFloating},
    {Dtype::kC32, "c32", "torch.complex32", 4, Family::kComplex},
    {Dtype::kC64, "c64", "torch.complex64", 8, Family::kComplex},
    {Dtype::kC128, "c128", "torch.complex128", 16, Family::kComplex},
    {Dtype::kBool, "bool", "torch.bool", 1, Family::kBool},
    {Dtype::kBF16, "bf16", "torch.bfloat16", 2, Family::kFloating},
    {Dtype::kU16, "u16", "torch.uint16", 2, Family::kUnsigned},
    {Dtype::kF8E4M3FN, "f8e4m3fn", "torch.float8_e4m3fn", 1, Family::kFloating},
    {Dtype::kF8E5M2, "f8e5m2", "torch.float8_e5m2", 1, Family::kFloating},
    {Dtype::kF8E4M3FNUZ, "f8e4m3fnuz", "torch.float8_e4m3fnuz", 1, Family::kFloating},
    {Dtype::kF8E5M2FNUZ, "f8e5m2fnuz", "torch.float8_e5m2fnuz", 1, Family::kFloating},
    {Dtype::kF8E8M0FNU, "f8e8m0fnu", "torch.float8_e8m0fnu", 1, Family::kFloating},
    {Dtype::kU32, "u32", "torch.uint32", 4, Family::kUnsigned},
    {Dtype::kU64, "u64", "torch.uint64", 8, Family::kUnsigned},
    {Dtype::kUnknown, "unknown", "unknown", 0, Family::kNone},
}};

const Row& row_of(Dtype dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return row;
  return kRows.back();
}

}  // namespace

std::string_view dtype_name(Dtype dtype) { return row_of(dtype).name; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const Row& row : kRows)
    if (row.dtype != Dtype::kUnknown && row.name == name) return row.dtype;
  return std::nullopt;
}

std::optional<Dtype> dtype_from_schema(int64_t code) {
  for (const Row& row : kRows)
    if (static_cast<int64_t>(row.dtype) == code) return row.dtype;
  return std::nullopt;
}

std::string_view dtype_torch_name(Dtype dtype) { return row_of(dtype).torch_name; }

int64_t dtype_bytes(Dtype dtype) { return row_of(dtype).bytes; }

bool dtype_is_floating(Dtype dtype) { return row_of(dtype).family == Family::kFloating; }

bool dtype_is_complex(Dtype dtype) { return row_of(dtype).family == Family::kComplex; }

bool dtype_is_integral(Dtype dtype) {
  const Family family = row_of(dtype).family;
  return family == Family::kSigned || family == Family::kUnsigned;
}

IntegralRange dtype_integral_range(Dtype dtype) {
  const Row& row = row_of(dtype);
  if (row.family == Family::kBool) return {0, 1};
  const int bits = static_cast<int>(row.bytes) * 8;
  if (row.family == Family::kUnsigned) {
    if (bits >= 64) return {0, std::numeric_limits<int64_t>::max()};
    return {0, (int64_t{1} << bits) - 1};
  }
  if (row.family != Family::kSigned) return {0, 0};
  if (bits >= 64) return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

}  // namespace aotifuzz
