#include "generators/size_chooser.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "generators/rapidcheck_choices.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;

const ShapeModel& model(const std::string& name) {
  static std::map<std::string, ShapeModel> models;
  const auto known = models.find(name);
  if (known != models.end()) return known->second;
  return models.emplace(name, ShapeModel(sample_contract(name), compute_bounds(sample_contract(name), 1 << 16)))
      .first->second;
}

template <class Choose>
std::vector<SlotValues> draws(Choose choose, const std::string& name, uint64_t count) {
  std::vector<SlotValues> out;
  for (uint64_t k = 0; k < count; ++k) {
    RapidCheckChoices choices(5, k);
    out.push_back(choose(choices, model(name)));
  }
  return out;
}

TEST(SizeChooser, MostSizesAreSmallAndTheTailIsLong) {
  int64_t small = 0, largest = 0;
  const auto all = draws(choose_sizes, "bytes", 4000);
  for (const SlotValues& values : all) {
    small += values[0] <= 70;
    largest = std::max(largest, values[0]);
  }
  EXPECT_GT(small, 3000);
  EXPECT_GT(largest, 2000);
}

TEST(SizeChooser, EverySizeBelow70IsDrawnSoon) {
  std::set<int64_t> seen;
  for (const SlotValues& values : draws(choose_sizes, "bytes", 4000)) seen.insert(values[0]);
  for (int64_t size = 0; size <= 70; ++size) EXPECT_TRUE(seen.contains(size)) << size;
}

TEST(SizeChooser, SizesAreSometimesAllEqualAndSometimesAllDifferent) {
  int equal = 0, different = 0;
  for (const SlotValues& values : draws(choose_sizes, "equal-sizes", 2000)) {
    equal += values[0] == values[1] && values[0] > 1;
    different += values[0] != values[1];
  }
  EXPECT_GT(equal, 100);
  EXPECT_GT(different, 1000);
}

TEST(SizeChooser, MultiplesAreDrawnAsMultiples) {
  std::set<int64_t> seen;
  for (const SlotValues& values : draws(choose_sizes, "multiple-of-100", 500)) {
    ASSERT_EQ(values[0] % 100, 0);
    ASSERT_GE(values[0], 200);
    seen.insert(values[0]);
  }
  EXPECT_GT(seen.size(), 15u);
}

TEST(SizeChooser, ConditionsOverSeveralSymbolsLeaveVariety) {
  std::set<SlotValues> seen;
  for (const SlotValues& values : draws(choose_sizes, "relation-of-two", 1000)) {
    ASSERT_TRUE(model("relation-of-two").legal(values));
    seen.insert(values);
  }
  EXPECT_GT(seen.size(), 150u);
}

TEST(SizeChooser, TinySizesAreMostlyZeroAndOne) {
  int tiny = 0;
  for (const SlotValues& values : draws(choose_tiny_sizes, "bytes", 1000)) tiny += values[0] <= 1;
  EXPECT_GT(tiny, 650);
}

TEST(SizeChooser, PlainSizesAreAtLeastTwoWhereTheContractAllowsIt) {
  for (const SlotValues& values : draws(choose_plain_sizes, "equal-sizes", 300)) {
    EXPECT_GE(values[0], 2);
    EXPECT_LE(values[0], 9);
  }
}

TEST(SizeChooser, ABatchOfLargeInputsStaysShort) {
  support::ContractMaker maker;
  const Expr batch = maker.symbol("s0");
  maker.tensor("x", Dtype::kF32, {batch, support::number(3), support::number(224), support::number(224)});
  const ShapeModel images(maker.contract(), ContractBounds{});
  std::set<int64_t> batches;
  for (uint64_t k = 0; k < 400; ++k) {
    RapidCheckChoices choices(1, k);
    batches.insert(choose_sizes(choices, images)[0]);
    batches.insert(choose_plain_sizes(choices, images)[0]);
  }
  EXPECT_LE(*batches.rbegin(), 3);
  EXPECT_TRUE(batches.contains(2));
}

TEST(SizeChooser, ASmallSizeKeepsCasesSmall) {
  int64_t largest = 0;
  for (uint64_t k = 0; k < 500; ++k) {
    RapidCheckChoices choices = RapidCheckChoices::from(rc::Random(k), 0);
    const SlotValues values = choose_plain_sizes(choices, model("equal-sizes"));
    largest = std::max(largest, model("equal-sizes").elements(values));
  }
  EXPECT_LE(largest, 9 * 9 * 5);
}

}  // namespace
}  // namespace aotifuzz
