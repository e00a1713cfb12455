#include "worker/dtype_map.h"

#include <utility>

namespace aotifuzz {
namespace {

constexpr std::pair<Dtype, c10::ScalarType> kMap[] = {
    {Dtype::kU8, c10::ScalarType::Byte},
    {Dtype::kI8, c10::ScalarType::Char},
    {Dtype::kI16, c10::ScalarType::Short},
    {Dtype::kI32, c10::ScalarType::Int},
    {Dtype::kI64, c10::ScalarType::Long},
    {Dtype::kF16, c10::ScalarType::Half},
    {Dtype::kF32, c10::ScalarType::Float},
    {Dtype::kF64, c10::ScalarType::Double},
    {Dtype::kC32, c10::ScalarType::ComplexHalf},
    {Dtype::kC64, c10::ScalarType::ComplexFloat},
    {Dtype::kC128, c10::ScalarType::ComplexDouble},
    {Dtype::kBool, c10::ScalarType::Bool},
    {Dtype::kBF16, c10::ScalarType::BFloat16},
    {Dtype::kU16, c10::ScalarType::UInt16},
    {Dtype::kF8E4M3FN, c10::ScalarType::Float8_e4m3fn},
    {Dtype::kF8E5M2, c10::ScalarType::Float8_e5m2},
    {Dtype::kF8E4M3FNUZ, c10::ScalarType::Float8_e4m3fnuz},
    {Dtype::kF8E5M2FNUZ, c10::ScalarType::Float8_e5m2fnuz},
    {Dtype::kF8E8M0FNU, c10::ScalarType::Float8_e8m0fnu},
    {Dtype::kU32, c10::ScalarType::UInt32},
    {Dtype::kU64, c10::ScalarType::UInt64},
};

}  // namespace

c10::ScalarType to_scalar_type(Dtype dtype) {
  for (const auto& [ours, theirs] : kMap)
    if (ours == dtype) return theirs;
  return c10::ScalarType::Undefined;
}

std::optional<Dtype> from_scalar_type(c10::ScalarType type) {
  for (const auto& [ours, theirs] : kMap)
    if (theirs == type) return ours;
  return std::nullopt;
}

}  // namespace aotifuzz
