#include "campaign/passes/real_values_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "campaign/case_complexity.h"
#include "core/shortest_recipe.h"

namespace aotifuzz {
namespace {

Case case_of(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  Case c;
  c.inputs.emplace_back();
  c.inputs[0].name = "x";
  c.inputs[0].sizes = {static_cast<int64_t>(values.size())};
  c.inputs[0].values = shortest_recipe("x.npy", Dtype::kF32, bytes);
  return c;
}

bool proposes(const Case& c, const ValueRecipe& wanted) {
  const std::vector<Case> found = RealValuesPass().propose(c, {});
  return std::any_of(found.begin(), found.end(), [&](const Case& one) { return one.inputs[0].values == wanted; });
}

TEST(RealValuesPass, KeepsTheOneElementThatMayMatter) {
  std::vector<float> values(20, 0.5f);
  values[3] = 1e30f, values[11] = -7, values[15] = NAN;
  const Case c = case_of(values);
  const Number zero = 0.0;
  EXPECT_TRUE(proposes(c, {ValueKind::kConst, {zero}, 0, {{3, Number{double{1e30f}}}}}));
  EXPECT_TRUE(proposes(c, {ValueKind::kConst, {zero}, 0, {{11, Number{-7.0}}}}));
  EXPECT_TRUE(proposes(c, {ValueKind::kConst, {zero}, 0, {{15, Number{std::nan("")}}}}));
  EXPECT_TRUE(proposes(c, {ValueKind::kUniform, {Number{-7.0}, Number{double{1e30f}}}, 1, {}}));
}

TEST(RealValuesPass, KeepsRangeAndOrderOfIntegers) {
  std::vector<float> values;
  for (int i = 0; i < 20; ++i) values.push_back(static_cast<float>(i / 2));
  const Case c = case_of(values);
  EXPECT_TRUE(proposes(c, {ValueKind::kInts, {Number{int64_t{0}}, Number{int64_t{9}}}, 1, {}}));
  EXPECT_TRUE(proposes(c, {ValueKind::kSorted, {Number{int64_t{0}}, Number{int64_t{9}}}, 1, {}}));
}

TEST(RealValuesPass, EveryProposalIsSimplerThanTheFile) {
  std::vector<float> values;
  for (int i = 0; i < 30; ++i) values.push_back(static_cast<float>(i % 3) * 0.1f - 1e-30f);
  const Case c = case_of(values);
  const std::vector<Case> found = RealValuesPass().propose(c, {});
  EXPECT_GE(found.size(), 5u);
  for (const Case& one : found) EXPECT_LT(case_complexity(one), case_complexity(c));
}

TEST(RealValuesPass, LeavesRecipesAlone) {
  Case c = case_of({1, 2, 3});
  EXPECT_NE(c.inputs[0].values.kind, ValueKind::kFile);
  EXPECT_TRUE(RealValuesPass().propose(c, {}).empty());
}

}  // namespace
}  // namespace aotifuzz
