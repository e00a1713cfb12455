#include "core/value_recipe.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

namespace aotifuzz {
namespace {

template <class T>
std::vector<T> filled(const ValueRecipe& recipe, Dtype dtype, int64_t numel) {
  std::vector<T> out(static_cast<size_t>(numel));
  fill_values(recipe, dtype, numel, out.data());
  return out;
}

TEST(ValueRecipe, NumbersCompareByBitsExceptThatNanIsNan) {
  EXPECT_TRUE(same_number(std::nan("1"), -std::nan("2")));
  EXPECT_FALSE(same_number(0.0, -0.0));
  EXPECT_FALSE(same_number(int64_t{0}, 0.0));
  EXPECT_FALSE(same_number(std::nan(""), 1.0));
}

TEST(ValueRecipe, SeedsCountOnlyWhereTheKindHasOne) {
  ValueRecipe a{ValueKind::kConst, {1.0}, 1, {}}, b{ValueKind::kConst, {1.0}, 2, {}};
  EXPECT_EQ(a, b);
  a.kind = b.kind = ValueKind::kNormal, a.numbers = b.numbers = {0.0, 1.0};
  EXPECT_FALSE(a == b);
}

TEST(ValueRecipe, KindNamesReadBack) {
  for (int i = 0; i <= static_cast<int>(ValueKind::kOneHot); ++i) {
    ValueKind kind;
    ASSERT_TRUE(value_kind_from_name(value_kind_name(static_cast<ValueKind>(i)), &kind));
    EXPECT_EQ(static_cast<int>(kind), i);
  }
  ValueKind untouched;
  EXPECT_FALSE(value_kind_from_name("gauss", &untouched));
}

TEST(ValueRecipe, TheSecondPatchOfOneElementWinsAndIndicesWrap) {
  const ValueRecipe recipe{ValueKind::kConst, {int64_t{1}}, 0, {{1, int64_t{5}}, {-1, int64_t{7}}, {4, int64_t{6}}}};
  EXPECT_EQ(filled<int64_t>(recipe, Dtype::kI64, 3), (std::vector<int64_t>{1, 6, 7}));
  EXPECT_TRUE(same_number(value_at(recipe, 1, 3), int64_t{6}));
  EXPECT_TRUE(same_number(value_at(recipe, 2, 3), int64_t{7}));
}

TEST(ValueRecipe, AnEmptyTensorTakesAnyRecipe) {
  for (int i = 0; i <= static_cast<int>(ValueKind::kOneHot); ++i) {
    ValueRecipe recipe{static_cast<ValueKind>(i), {}, 1, {{3, 1.0}}};
    recipe.numbers.resize(static_cast<size_t>(value_kind_arity(recipe.kind).first));
    fill_values(recipe, Dtype::kF32, 0, nullptr);
  }
}

/// Every kind, filled and read element by element, over sizes around the block length.
TEST(ValueRecipe, FillAgreesWithValueAtForEveryKindAndDtype) {
  const std::vector<ValueRecipe> recipes = {
      {ValueKind::kConst, {2.5}, 0, {}},
      {ValueKind::kRamp, {int64_t{-3}, int64_t{7}}, 0, {}},
      {ValueKind::kRamp, {0.5, 0.25}, 0, {{600, -1.5}}},
      {ValueKind::kUniform, {-1.0, 2.0}, 9, {}},
      {ValueKind::kNormal, {int64_t{0}, int64_t{30}}, 9, {}},
      {ValueKind::kInts, {int64_t{-300}, int64_t{300}}, 9, {}},
      {ValueKind::kSteps, {-2.0, 2.0, 0.1}, 9, {}},
      {ValueKind::kChoice, {std::numeric_limits<int64_t>::min(), int64_t{-1}, 0.5}, 9, {}},
      {ValueKind::kList, {int64_t{1}, 0.5, int64_t{-4}}, 0, {}},
      {ValueKind::kSorted, {int64_t{0}, int64_t{99}}, 9, {}},
      {ValueKind::kPermutation, {}, 9, {}},
      {ValueKind::kOneHot, {int64_t{513}, int64_t{9}, int64_t{2}}, 0, {}},
  };
  for (const ValueRecipe& recipe : recipes) {
    for (int64_t numel : {1, 7, 512, 1030}) {
      const auto i64 = filled<int64_t>(recipe, Dtype::kI64, numel);
      const auto i16 = filled<int16_t>(recipe, Dtype::kI16, numel);
      const auto u8 = filled<uint8_t>(recipe, Dtype::kBool, numel);
      const auto f32 = filled<float>(recipe, Dtype::kF32, numel);
      const auto f64 = filled<double>(recipe, Dtype::kF64, numel);
      for (int64_t i = 0; i < numel; ++i) {
        const Number number = value_at(recipe, i, numel);
        ASSERT_EQ(i64[i], to_int64(number)) << value_kind_name(recipe.kind) << " " << i;
        ASSERT_EQ(i16[i], static_cast<int16_t>(static_cast<uint16_t>(to_int64(number))));
        ASSERT_EQ(u8[i], to_double(number) != 0);
        ASSERT_EQ(f32[i], static_cast<float>(to_double(number)));
        ASSERT_EQ(f64[i], to_double(number));
      }
    }
  }
}

TEST(ValueRecipe, ComplexElementsTakeTheNextValueAsImaginaryPartAtOddPlaces) {
  const ValueRecipe recipe{ValueKind::kRamp, {int64_t{10}, int64_t{1}}, 0, {{0, 5.0}}};
  using C = std::complex<float>;
  EXPECT_EQ(filled<C>(recipe, Dtype::kC64, 4), (std::vector<C>{{5, 0}, {11, 12}, {12, 0}, {13, 14}}));
}

TEST(ValueRecipe, AMisalignedBufferGetsTheSameBytes) {
  const ValueRecipe recipe{ValueKind::kNormal, {0.0, 1.0}, 3, {}};
  const std::vector<float> expected = filled<float>(recipe, Dtype::kF32, 100);
  std::vector<uint8_t> buffer(401);
  fill_values(recipe, Dtype::kF32, 100, buffer.data() + 1);
  EXPECT_EQ(std::memcmp(buffer.data() + 1, expected.data(), 400), 0);
}

// Saved cases mean these bits for ever; computed independently with Python integers and floats.
TEST(ValueRecipe, NormalHasTheBitsThatSavedCasesMean) {
  const std::vector<double> values = filled<double>({ValueKind::kNormal, {0.0, 1.0}, 1, {}}, Dtype::kF64, 3);
  EXPECT_EQ(values, (std::vector<double>{0x1.73456fe82dc00p-3, 0x1.0b57a1ca71d00p-2, -0x1.d644a24acee20p+0}));
}

TEST(ValueRecipeDeathTest, AWrongCountOfNumbersIsABugOfTheCaller) {
  const ValueRecipe recipe{ValueKind::kInts, {int64_t{1}}, 0, {}};
  EXPECT_DEATH(value_at(recipe, 0, 1), "ints with 1 numbers");
}

}  // namespace
}  // namespace aotifuzz
