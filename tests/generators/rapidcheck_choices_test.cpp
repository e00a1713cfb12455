#include "generators/rapidcheck_choices.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "generators/catalog.h"
#include "generators/rapidcheck_gen.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

// Fixed for ever: "seed 1, case 5" in a report means this stream.
TEST(RapidCheckChoices, AStreamIsTheSameOnEveryMachine) {
  RapidCheckChoices choices(1, 5);
  std::vector<uint64_t> drawn;
  for (uint64_t bound : {10, 256, 1000, 3, 1 << 20}) drawn.push_back(choices.below(bound));
  EXPECT_EQ(drawn, (std::vector<uint64_t>{9, 183, 482, 0, 181697}));
}

TEST(RapidCheckChoices, NeighbouringCasesAndSeedsAreUnrelated) {
  RapidCheckChoices a(1, 5), b(1, 6), c(2, 5);
  const uint64_t from_a = a.below(uint64_t{1} << 60);
  EXPECT_NE(from_a, b.below(uint64_t{1} << 60));
  EXPECT_NE(from_a, c.below(uint64_t{1} << 60));
}

TEST(RapidCheckChoices, EveryValueBelowTheBoundComesAboutEquallyOften) {
  for (uint64_t bound : {2, 3, 7, 256, 300}) {
    std::vector<int> counts(bound);
    RapidCheckChoices choices(3, bound);
    const int draws = static_cast<int>(bound) * 400;
    for (int i = 0; i < draws; ++i) ++counts[choices.below(bound)];
    for (int count : counts) {
      EXPECT_GT(count, 280);
      EXPECT_LT(count, 520);
    }
  }
}

TEST(RapidCheckChoices, TheSizeSweepsFromSmallToLarge) {
  EXPECT_EQ(RapidCheckChoices(1, 0).size(), 1);
  EXPECT_EQ(RapidCheckChoices(1, 99).size(), 100);
  int least = 100, most = 0;
  for (uint64_t k = 100; k < 400; ++k) {
    least = std::min(least, RapidCheckChoices(9, k).size());
    most = std::max(most, RapidCheckChoices(9, k).size());
  }
  EXPECT_EQ(least, 10);
  EXPECT_EQ(most, 100);
}

RC_GTEST_PROP(RapidCheckGen, GivesCasesToProperties, ()) {
  static const Contract& contract = support::sample_contract("equal-sizes");
  static const std::unique_ptr<Generator> shapes =
      make_generator("shapes", make_case_model(contract, compute_bounds(contract, 1 << 16)));
  const Case c = *cases_of(*shapes, contract);
  RC_ASSERT(violations(contract, c).empty());
}

}  // namespace
}  // namespace aotifuzz
