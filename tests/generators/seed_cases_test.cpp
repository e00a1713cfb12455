#include "generators/seed_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;

std::vector<Case> seeds(const std::string& name) {
  return seed_cases(CaseModel(sample_contract(name), compute_bounds(sample_contract(name), 1 << 16)));
}

TEST(SeedCases, TheFirstIsTheSimplest) {
  const Case first = seeds("equal-sizes").front();
  EXPECT_EQ(first.inputs[0].sizes, (std::vector<int64_t>{1, 1, 4}));
  EXPECT_FALSE(first.input_checks);
}

TEST(SeedCases, AreTheSameEveryTime) { EXPECT_EQ(seeds("index"), seeds("index")); }

TEST(SeedCases, CheapOnesComeFirst) {
  const std::vector<Case> all = seeds("bytes");
  EXPECT_LE(all[20].inputs[0].numel(), 256);
  EXPECT_GE(all.back().inputs[0].numel(), 4096);
}

TEST(SeedCases, IndicesGoPastEachEnd) {
  std::set<int64_t> distance;
  for (const Case& c : seeds("index")) {
    const CaseInput& i = c.inputs[1];
    if (i.dtype != Dtype::kI64) continue;
    for (const auto& [at, value] : i.values.patches) distance.insert(to_int64(value) - c.inputs[0].sizes[0]);
  }
  EXPECT_TRUE(distance.contains(0));
  EXPECT_LT(*distance.begin(), -3);
}

TEST(SeedCases, TheLeastNumberMeetsMinusOneAsDivisor) {
  bool met = false;
  for (const Case& c : seeds("scalars")) {
    const int64_t numel = c.inputs[0].numel();
    if (c.inputs[1].numel() != numel) continue;
    for (int64_t i = 0; i < numel; ++i)
      met |= to_int64(value_at(c.inputs[0].values, i, numel)) == std::numeric_limits<int32_t>::min() &&
             to_int64(value_at(c.inputs[1].values, i, numel)) == -1;
  }
  EXPECT_TRUE(met);
}

TEST(SeedCases, InputChecksRunOnTheSmallestSizes) {
  std::set<int64_t> checked;
  for (const Case& c : seeds("bytes"))
    if (c.input_checks) checked.insert(c.inputs[0].sizes[0]);
  EXPECT_TRUE(checked.contains(0));
  EXPECT_TRUE(checked.contains(1));
}

TEST(SeedCases, AnUnsatisfiableContractHasNone) {
  support::ContractMaker maker;
  const Expr n = maker.symbol("s0");
  maker.tensor("x", Dtype::kF32, {n}).guard(Expr::make(ExprOp::kLt, {support::size_of("x", 0), support::number(0)}));
  EXPECT_TRUE(seed_cases(CaseModel(maker.contract(), ContractBounds{})).empty());
}

}  // namespace
}  // namespace aotifuzz
