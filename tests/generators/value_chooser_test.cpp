#include "generators/value_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "generators/rapidcheck_choices.h"
#include "generators/shape_model.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;

Case sized(const std::string& name, const SlotValues& values) {
  return ShapeModel(sample_contract(name), ContractBounds{}).make_case(values);
}

TEST(ValueChooser, TheBoundOfAnIndexFollowsTheSizesOfTheCase) {
  const Case c = sized("index", {9, 4});
  EXPECT_EQ(value_context(sample_contract("index"), c, 1).bound, 9);
  EXPECT_EQ(value_context(sample_contract("index"), c, 1).numel, 4);
  EXPECT_FALSE(value_context(sample_contract("index"), c, 0).bound);
}

TEST(ValueChooser, TheLeastNumberMeetsMinusOneAsDivisorAtOneElementSoon) {
  const Contract& contract = sample_contract("scalars");
  int met = 0;
  for (uint64_t k = 0; k < 2000; ++k) {
    Case c = sized("scalars", {8});
    RapidCheckChoices choices(1, k);
    choose_values(choices, contract, c);
    bool here = false;
    for (int64_t i = 0; i < 8; ++i)
      here |= to_int64(value_at(c.inputs[0].values, i, 8)) == std::numeric_limits<int32_t>::min() &&
              to_int64(value_at(c.inputs[1].values, i, 8)) == -1;
    met += here;
  }
  EXPECT_GT(met, 40);
}

TEST(ValueChooser, FixedScalarsKeepTheirValueAndFreeOnesVary) {
  const Contract& contract = sample_contract("scalars");
  std::set<double> seen;
  for (uint64_t k = 0; k < 50; ++k) {
    Case c = sized("scalars", {8});
    RapidCheckChoices choices(1, k);
    choose_values(choices, contract, c);
    EXPECT_TRUE(same_number(c.inputs[2].scalar, int64_t{3}));
    seen.insert(to_double(c.inputs[3].scalar));
  }
  EXPECT_GT(seen.size(), 2u);
}

TEST(ValueChooser, SpecialValuesComeInOneInputOnly) {
  const Contract& contract = sample_contract("product");
  for (uint64_t k = 0; k < 200; ++k) {
    Case c = sized("product", {3, 4});
    RapidCheckChoices choices(1, k);
    ASSERT_TRUE(choose_special_values(choices, contract, c));
    int special = 0;
    for (const CaseInput& input : c.inputs) {
      bool finite = true;
      for (int64_t i = 0; i < 12; ++i) finite &= std::isfinite(to_double(value_at(input.values, i, 12)));
      special += !finite;
    }
    EXPECT_EQ(special, 1);
  }
}

TEST(ValueChooser, AContractWithoutSpecialValuesSaysSo) {
  EXPECT_FALSE(has_special_values(sample_contract("bytes")));
  EXPECT_TRUE(has_special_values(sample_contract("index")));
  Case c = sized("bytes", {4});
  RapidCheckChoices choices(1, 1);
  EXPECT_FALSE(choose_special_values(choices, sample_contract("bytes"), c));
}

TEST(ValueChooser, PlainValuesDifferBetweenInputs) {
  Case c = sized("product", {3, 4});
  set_plain_values(sample_contract("product"), c);
  EXPECT_FALSE(c.inputs[0].values == c.inputs[1].values);
}

TEST(ValueChooser, IntegersOfAProgramThatNobodyHasAreZero) {
  Contract contract = sample_contract("index");
  const auto index = std::find_if(contract.inputs.begin(), contract.inputs.end(),
                                  [](const InputSpec& input) { return dtype_is_integral(input.dtype); });
  ASSERT_NE(index, contract.inputs.end());
  const size_t at = static_cast<size_t>(index - contract.inputs.begin());
  for (const bool declared : {true, false}) {
    contract.declared = declared;
    const ShapeModel model(contract, ContractBounds{});
    Case c = model.make_case(SlotValues(model.slots().size(), 3));
    set_plain_values(contract, c);
    EXPECT_EQ(c.inputs[at].values == ValueRecipe{}, !declared);
  }
}

}  // namespace
}  // namespace aotifuzz
