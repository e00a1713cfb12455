#include "generators/shape_model.h"

#include <gtest/gtest.h>

#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;

ShapeModel model(const std::string& name) {
  const Contract& contract = sample_contract(name);
  return ShapeModel(contract, compute_bounds(contract, 1 << 16));
}

TEST(ShapeModel, SnapFindsTheNearestAllowedValue) {
  ShapeModel::Slot slot;
  slot.min = 150, slot.max = 950, slot.step = 100, slot.residue = 0;
  EXPECT_EQ(slot.snap(-5), 200);
  EXPECT_EQ(slot.snap(249), 200);
  EXPECT_EQ(slot.snap(260), 300);
  EXPECT_EQ(slot.snap(5000), 900);
  slot.step = 1;
  EXPECT_EQ(slot.snap(151), 151);
  EXPECT_EQ(slot.snap(5000), 950);
}

TEST(ShapeModel, SizesFollowFromTheSymbols) {
  const ShapeModel m = model("product");
  ASSERT_EQ(m.slots().size(), 2u);
  const Case c = m.make_case(SlotValues{3, 5});
  EXPECT_EQ(c.inputs[0].sizes, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(c.inputs[1].sizes, (std::vector<int64_t>{15}));
  EXPECT_EQ(m.elements({3, 5}), 30);
}

TEST(ShapeModel, ElementsSaturateInsteadOfOverflowing) {
  EXPECT_EQ(model("product").elements({int64_t{1} << 40, int64_t{1} << 40}), std::numeric_limits<int64_t>::max());
}

TEST(ShapeModel, ConditionsThatTheSlotsDoNotEnsureAreChecked) {
  const ShapeModel m = model("relation-of-two");
  EXPECT_TRUE(m.legal({2, 3}));
  EXPECT_FALSE(m.legal({3, 2}));  // x.size(0) < x.size(1)
  EXPECT_FALSE(m.legal({1, 5}));  // product divisible by 6
  EXPECT_FALSE(m.legal({-6, 1}));
  for (const SlotValues& values : m.pool()) EXPECT_TRUE(m.legal(values));
  EXPECT_GT(m.pool().size(), 20u);
}

TEST(ShapeModel, ExportedStridesAreKeptWhereTheyAreNotDense) {
  const Case c = model("transposed").make_case(SlotValues{4, 6});
  EXPECT_EQ(c.inputs[0].strides, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(c.inputs[1].strides, (std::vector<int64_t>{1, 16}));
  EXPECT_FALSE(model("equal-sizes").make_case(SlotValues{4, 6}).inputs[0].strides);
}

TEST(ShapeModel, StridesOfOneElementAreNotStated) {
  EXPECT_FALSE(model("transposed").make_case(SlotValues{1, 1}).inputs[0].strides);
}

TEST(ShapeModel, AnAssignmentStatesAHiddenSymbolThroughADerivedSize) {
  const ShapeModel m = model("twice");
  EXPECT_EQ(m.slot_values({{"x.size(0)", 14}}), (SlotValues{7}));
  EXPECT_EQ(m.make_case(Assignment{{"x.size(0)", 7}})->inputs[0].sizes, (std::vector<int64_t>{7}));
}

TEST(ShapeModel, AnAssignmentMaySayWhatTheContractForbids) {
  const ShapeModel m = model("equal-sizes");
  const Case c = *m.make_case(
      Assignment{{"x.size(0)", 2}, {"x.size(1)", 7}, {"x.size(2)", 4}, {"i.size(0)", 2}, {"i.size(1)", 9}});
  EXPECT_EQ(c.inputs[0].sizes, (std::vector<int64_t>{2, 7, 4}));
  EXPECT_EQ(c.inputs[1].sizes, (std::vector<int64_t>{2, 9}));
  EXPECT_FALSE(m.make_case(Assignment{{"x.size(0)", 2}, {"x.size(1)", 7}, {"i.size(1)", -1}}));
}

TEST(ShapeModel, FreeStridesNeverMakeElementsOverlap) {
  const ShapeModel m = model("free-stride");
  ASSERT_TRUE(m.has_free_strides());
  SlotValues values = {3, 5, 0};
  m.settle_strides(values, 0);
  EXPECT_EQ(values[2], 5);
  m.settle_strides(values, 2);
  EXPECT_EQ(values[2], 7);
  EXPECT_TRUE(violations(m.contract(), m.make_case(values)).empty());
}

TEST(ShapeModel, TheSimplestValuesComeFirstAndAreNotEmpty) {
  EXPECT_EQ(model("equal-sizes").pool().front(), (SlotValues{1, 1}));
  EXPECT_EQ(model("multiple-of-100").pool().front(), (SlotValues{200}));
  EXPECT_GT(model("relation-of-two").elements(model("relation-of-two").pool().front()), 0);
}

TEST(ShapeModel, WithoutBoundsTheDeclaredRangesServe) {
  const ShapeModel m(sample_contract("equal-sizes"), ContractBounds{});
  EXPECT_EQ(m.pool().front(), (SlotValues{1, 1}));
  EXPECT_EQ(m.slots()[0].max, 64);
}

}  // namespace
}  // namespace aotifuzz
