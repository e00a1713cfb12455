#include "core/shortest_recipe.h"

#include <gtest/gtest.h>

#include <cstring>

namespace aotifuzz {
namespace {

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<uint8_t> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

TEST(ShortestRecipe, SaysInTextWhatTextCanSay) {
  const ValueRecipe constant = shortest_recipe("x.npy", Dtype::kF32, bytes_of<float>(std::vector<float>(100, 2.5f)));
  EXPECT_EQ(constant, (ValueRecipe{ValueKind::kConst, {Number{2.5}}, 0, {}}));
  const ValueRecipe list = shortest_recipe("x.npy", Dtype::kI64, bytes_of<int64_t>({3, -1, 7}));
  EXPECT_EQ(list,
            (ValueRecipe{ValueKind::kList, {Number{int64_t{3}}, Number{int64_t{-1}}, Number{int64_t{7}}}, 0, {}}));
  EXPECT_EQ(shortest_recipe("x.npy", Dtype::kF32, {}), ValueRecipe{});
}

TEST(ShortestRecipe, LongerValuesAndOddBitsNeedAFile) {
  std::vector<int32_t> values(9);
  for (int i = 0; i < 9; ++i) values[static_cast<size_t>(i)] = i * i;
  const ValueRecipe recipe = shortest_recipe("x.npy", Dtype::kI32, bytes_of(values));
  ASSERT_EQ(recipe.kind, ValueKind::kFile);
  EXPECT_EQ(recipe.file->name, "x.npy");
  std::vector<int32_t> made(9);
  fill_values(recipe, Dtype::kI32, 9, made.data());
  EXPECT_EQ(made, values);
  // The payload of this NaN is no number that text keeps.
  EXPECT_EQ(shortest_recipe("x.npy", Dtype::kF32, bytes_of<uint32_t>({0x7fc00001u})).kind, ValueKind::kFile);
  // Imaginary parts too.
  EXPECT_EQ(shortest_recipe("x.npy", Dtype::kC64, bytes_of<float>({1, 2})).kind, ValueKind::kFile);
}

TEST(FileValues, RepeatConvertAndTakePatches) {
  std::vector<float> values(9);
  for (int i = 0; i < 9; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i) + 0.5f;
  ValueRecipe recipe = shortest_recipe("x.npy", Dtype::kF32, bytes_of(values));
  std::vector<float> made(20);
  fill_values(recipe, Dtype::kF32, 20, made.data());
  for (size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i], values[i % 9]) << i;
  std::vector<int64_t> whole(10);
  fill_values(recipe, Dtype::kI64, 10, whole.data());
  EXPECT_EQ(whole, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0}));
  EXPECT_EQ(to_double(value_at(recipe, 10, 20)), 1.5);
  recipe.patches = {{-1, Number{99.0}}};
  fill_values(recipe, Dtype::kF32, 20, made.data());
  EXPECT_EQ(made[19], 99.0f);
  EXPECT_EQ(made[18], values[0]);
}

TEST(FileValues, AreOneByTheirContentNotByTheirName) {
  const std::vector<uint8_t> bytes = bytes_of<int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 9});
  const ValueRecipe recipe = shortest_recipe("x.npy", Dtype::kI32, bytes);
  EXPECT_EQ(recipe, shortest_recipe("y.npy", Dtype::kI32, bytes));
  EXPECT_FALSE(recipe == shortest_recipe("x.npy", Dtype::kU32, bytes));
  EXPECT_FALSE(recipe == shortest_recipe("x.npy", Dtype::kI32, bytes_of<int32_t>({1, 2, 3, 4, 5, 6, 7, 8, 10})));
}

}  // namespace
}  // namespace aotifuzz
