#include "oracles/leak_oracle.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::Scenario;

/// Bytes after each of `runs` runs: `grown(n)` more in the n-th.
template <class Grown>
std::vector<int64_t> memory(size_t runs, Grown grown) {
  std::vector<int64_t> out;
  int64_t bytes = 1'000'000;
  for (size_t n = 0; n < runs; ++n) out.push_back(bytes += grown(n));
  return out;
}

TEST(LeakOracle, SteadyGrowthIsMeasuredWhateverTheWarmUpCosts) {
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(32, [](size_t) { return 64; })), 64);
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(24, [](size_t) { return 1; })), 1);
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(1000, [](size_t n) { return n < 5 ? 1 << 20 : 64; })), 64);
  EXPECT_DOUBLE_EQ(LeakOracle::bytes_per_run(memory(1000, [](size_t n) { return n % 3 == 0 ? 96 : 0; })), 32);
}

TEST(LeakOracle, CachesThatFillAndMemoryThatComesAndGoesAreNoLeak) {
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(32, [](size_t) { return 0; })), 0);
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(32, [](size_t n) { return n < 8 ? 4096 : 0; })), 0);
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(32, [](size_t n) { return n == 20 ? 4096 : 0; })), 0);
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(1000, [](size_t n) { return (n & (n - 1)) == 0 ? 4096 : 0; })), 0)
      << "a table that doubles";
  EXPECT_EQ(LeakOracle::bytes_per_run(memory(33, [](size_t n) { return n % 2 == 0 ? 512 : -512; })), 0);
}

TEST(LeakOracle, ALeakOnALegalInputIsAFault) {
  Scenario scenario = make_scenario();
  scenario.memory_in_use = memory(LeakOracle::kRunsLeast, [](size_t) { return 128; });
  const Verdict verdict = scenario.verdict("leak");
  ASSERT_EQ(verdict.status, VerdictStatus::kFail) << verdict.reason;
  EXPECT_EQ(verdict.cls, VerdictClass::kLeak);
  EXPECT_TRUE(verdict.fault);
  EXPECT_EQ(verdict.signature, "leak calls");
  EXPECT_NE(verdict.reason.find("128 bytes with each call"), std::string::npos) << verdict.reason;
}

TEST(LeakOracle, WhatARefusalLosesIsAGapWithChecksOn) {
  Scenario scenario = make_scenario();
  scenario.memory_in_use = memory(LeakOracle::kRunsLeast, [](size_t) { return 128; });
  scenario.subject.outcome.kind = OutcomeKind::kRejected;
  EXPECT_TRUE(scenario.verdict("leak").fault) << "checks off: nothing may refuse";
  scenario.input.input_checks = true;
  EXPECT_EQ(scenario.verdict("leak").signature, "leak refused calls");
  EXPECT_FALSE(scenario.verdict("leak").fault);
}

TEST(LeakOracle, GrowthThatDoesNotGoOnIsTheAllocatorsOwn) {
  Scenario scenario = make_scenario();
  scenario.memory_in_use = memory(32, [](size_t n) { return n % 2 == 0 ? 64 : 0; });
  EXPECT_EQ(scenario.verdict("leak").status, VerdictStatus::kFail);
  scenario.memory_in_use_further = memory(96, [](size_t) { return 0; });
  EXPECT_EQ(scenario.verdict("leak").status, VerdictStatus::kPass);
  scenario.memory_in_use_further = memory(96, [](size_t n) { return n % 8 == 0 ? 16 : 0; });
  EXPECT_EQ(scenario.verdict("leak").status, VerdictStatus::kPass) << "at another rate";
  scenario.memory_in_use_further = memory(96, [](size_t) { return 512; });
  const Verdict faster = scenario.verdict("leak");
  EXPECT_EQ(faster.status, VerdictStatus::kFail) << "what grows faster and faster is a leak all the more";
  EXPECT_NE(faster.reason.find("512 bytes with each call"), std::string::npos) << faster.reason;
  scenario.memory_in_use_further = memory(LeakOracle::kRunsLeast - 1, [](size_t) { return 32; });
  EXPECT_EQ(scenario.verdict("leak").reason, "too few runs");
}

TEST(LeakOracle, TooFewRunsAndIllegalInputsAreSkipped) {
  Scenario scenario = make_scenario();
  scenario.memory_in_use = memory(LeakOracle::kRunsLeast - 1, [](size_t) { return 128; });
  EXPECT_EQ(scenario.verdict("leak").reason, "too few runs");
  scenario.memory_in_use = memory(LeakOracle::kRunsLeast, [](size_t) { return 128; });
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
  EXPECT_EQ(scenario.verdict("leak").reason, "illegal input");
}

}  // namespace
}  // namespace aotifuzz
