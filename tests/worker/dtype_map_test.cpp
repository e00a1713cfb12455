#include "worker/dtype_map.h"

#include <gtest/gtest.h>

namespace aotifuzz {
namespace {

TEST(DtypeMap, EveryCodeOfTheSchemaMapsThereAndBackWithTheSameWidth) {
  int known = 0;
  for (int64_t code = 1; code < 64; ++code) {
    const std::optional<Dtype> dtype = dtype_from_schema(code);
    if (!dtype || *dtype == Dtype::kUnknown) continue;
    const c10::ScalarType type = to_scalar_type(*dtype);
    ASSERT_NE(type, c10::ScalarType::Undefined) << dtype_name(*dtype);
    EXPECT_EQ(from_scalar_type(type), *dtype);
    EXPECT_EQ(static_cast<int64_t>(c10::elementSize(type)), dtype_bytes(*dtype)) << dtype_name(*dtype);
    ++known;
  }
  EXPECT_EQ(known, 21);
}

TEST(DtypeMap, TypesThatTheSchemaLacksHaveNoCode) {
  EXPECT_EQ(from_scalar_type(c10::ScalarType::QInt8), std::nullopt);
  EXPECT_EQ(to_scalar_type(Dtype::kUnknown), c10::ScalarType::Undefined);
}

}  // namespace
}  // namespace aotifuzz
