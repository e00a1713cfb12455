#include "package/contract_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/guard_parser.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kElementsMax = 1 << 20;

/// Inputs by name and rank, all sizes free, and conditions by text ("size: x.size(1) == 4" is a kSize condition).
Contract contract_of(const std::vector<std::pair<std::string, int>>& inputs,
                     const std::vector<std::string>& conditions) {
  Contract contract;
  for (const auto& [name, rank] : inputs) {
    InputSpec input;
    input.name = name;
    for (int d = 0; d < rank; ++d) {
      const std::string symbol = name + std::to_string(d);
      input.sizes.push_back(Expr::symbol(symbol));
      input.strides.push_back(Expr::integer(1));
      contract.symbols.push_back({symbol, name + ".size(" + std::to_string(d) + ")"});
    }
    contract.inputs.push_back(std::move(input));
  }
  for (std::string text : conditions) {
    Condition condition;
    condition.kind = text.starts_with("size: ") ? Condition::Kind::kSize : Condition::Kind::kGuard;
    if (condition.kind == Condition::Kind::kSize) text = text.substr(6);
    condition.expr = *parse_size_text(text);
    condition.text = text;
    contract.conditions.push_back(std::move(condition));
  }
  return contract;
}

bool holds(const Contract& contract, size_t condition, const Assignment& values) {
  return contract.conditions[condition]
             .expr
             .evaluate([&](const std::string& name) {
               const auto it = values.find(name);
               return it == values.end() ? std::optional<int64_t>() : std::optional(it->second);
             })
             .value_or(0) != 0;
}

const std::vector<Assignment>* breaking(const ContractBounds& bounds, int condition) {
  for (const ContractBounds::Breaking& b : bounds.breaking)
    if (b.condition == condition) return &b.assignments;
  return nullptr;
}

std::vector<int64_t> values_of(const std::vector<Assignment>& assignments, const std::string& name) {
  std::vector<int64_t> out;
  for (const Assignment& a : assignments) out.push_back(a.at(name));
  return out;
}

/// What must be true of any bounds: boundary assignments satisfy everything, breaking ones break one thing.
void check_promises(const Contract& contract, const ContractBounds& bounds) {
  for (const Assignment& values : bounds.boundary)
    for (size_t i = 0; i < contract.conditions.size(); ++i)
      EXPECT_TRUE(holds(contract, i, values)) << contract.conditions[i].text;
  for (const ContractBounds::Breaking& b : bounds.breaking) {
    EXPECT_FALSE(b.assignments.empty());
    for (const Assignment& values : b.assignments)
      for (size_t i = 0; i < contract.conditions.size(); ++i)
        EXPECT_EQ(holds(contract, i, values), static_cast<int>(i) != b.condition) << contract.conditions[i].text;
  }
  for (const ContractBounds::SymbolBounds& symbol : bounds.symbols) {
    if (symbol.dim.empty()) continue;
    EXPECT_TRUE(std::is_sorted(symbol.landmarks.begin(), symbol.landmarks.end()));
    for (int64_t value : symbol.landmarks) {
      EXPECT_GE(value, symbol.min);
      if (symbol.max) EXPECT_LE(value, *symbol.max);
      EXPECT_THAT(values_of(bounds.boundary, symbol.dim), Contains(value));
    }
  }
}

TEST(ContractBounds, FreeDimensionRunsFromZeroWithoutEnd) {
  const Contract contract = contract_of({{"x", 1}}, {});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  ASSERT_EQ(bounds.symbols.size(), 1u);
  EXPECT_EQ(bounds.symbols[0].symbol, "x0");
  EXPECT_EQ(bounds.symbols[0].dim, "x.size(0)");
  EXPECT_EQ(bounds.symbols[0].min, 0);
  EXPECT_EQ(bounds.symbols[0].max, std::nullopt);
  for (int64_t value : {0,   1,   2,   3,   7,   15,  16,  17,  31,   32,   33,   63,   64,   65,  127,
                        128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097})
    EXPECT_THAT(bounds.symbols[0].landmarks, Contains(value));
  EXPECT_EQ(bounds.symbols[0].landmarks.back(), kElementsMax) << "stands in for the missing maximum";
  EXPECT_THAT(bounds.breaking, IsEmpty());
}

TEST(ContractBounds, RangeGivesExactEndsAndValuesJustBeyond) {
  const Contract contract = contract_of({{"x", 1}}, {"x.size(0) >= 3", "x.size(0) <= 64"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  EXPECT_EQ(bounds.symbols[0].min, 3);
  EXPECT_EQ(bounds.symbols[0].max, 64);
  EXPECT_EQ(bounds.symbols[0].landmarks.front(), 3);
  EXPECT_EQ(bounds.symbols[0].landmarks.back(), 64);
  ASSERT_NE(breaking(bounds, 0), nullptr);
  EXPECT_THAT(values_of(*breaking(bounds, 0), "x.size(0)"), Contains(2));
  ASSERT_NE(breaking(bounds, 1), nullptr);
  EXPECT_THAT(values_of(*breaking(bounds, 1), "x.size(0)"), Contains(65));
}

TEST(ContractBounds, DivisibilityIsFoundAndBrokenByAsLittleAsPossible) {
  const Contract contract = contract_of({{"x", 1}}, {"x.size(0) % 100 == 0", "x.size(0) >= 200"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  EXPECT_EQ(bounds.symbols[0].min, 200);
  EXPECT_EQ(bounds.symbols[0].step, 100);
  EXPECT_EQ(bounds.symbols[0].residue, 0);
  ASSERT_NE(breaking(bounds, 0), nullptr);
  EXPECT_THAT(values_of(*breaking(bounds, 0), "x.size(0)"), Contains(201));
  EXPECT_THAT(values_of(*breaking(bounds, 0), "x.size(0)"), Contains(250));
  ASSERT_NE(breaking(bounds, 1), nullptr);
  EXPECT_THAT(values_of(*breaking(bounds, 1), "x.size(0)"), Contains(100));
}

TEST(ContractBounds, ResidueOtherThanZero) {
  const Contract contract = contract_of({{"x", 1}}, {"(x.size(0) - 1) % 6 == 0"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  EXPECT_EQ(bounds.symbols[0].min, 1);
  EXPECT_EQ(bounds.symbols[0].step, 6);
  EXPECT_EQ(bounds.symbols[0].residue, 1);
}

TEST(ContractBounds, EqualDimensionsAreOneFreeDimension) {
  const Contract contract = contract_of({{"x", 2}, {"y", 1}}, {"size: y.size(0) == x.size(1)"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  ASSERT_EQ(bounds.symbols.size(), 2u);
  ASSERT_NE(breaking(bounds, 0), nullptr);
  std::vector<int64_t> differences, y;
  for (const Assignment& values : *breaking(bounds, 0)) {
    differences.push_back(values.at("y.size(0)") - values.at("x.size(1)"));
    y.push_back(values.at("y.size(0)"));
  }
  EXPECT_THAT(differences, Contains(1));
  EXPECT_THAT(differences, Contains(-1));
  EXPECT_THAT(y, Contains(1)) << "broadcast";
}

TEST(ContractBounds, StaticSizeIsBrokenByNeighboursOneHalfAndDouble) {
  const Contract contract = contract_of({{"x", 2}}, {"size: x.size(1) == 36"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  ASSERT_NE(breaking(bounds, 0), nullptr);
  for (int64_t value : {37, 35, 1, 18, 72}) EXPECT_THAT(values_of(*breaking(bounds, 0), "x.size(1)"), Contains(value));
}

TEST(ContractBounds, RelationsBoundOneDimensionByAnother) {
  const Contract contract = contract_of({{"x", 2}}, {"x.size(0) < x.size(1)", "x.size(1) <= 10"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  EXPECT_EQ(bounds.symbols[0].min, 0);
  EXPECT_EQ(bounds.symbols[0].max, 9);
  EXPECT_EQ(bounds.symbols[1].min, 1);
  EXPECT_EQ(bounds.symbols[1].max, 10);
  ASSERT_NE(breaking(bounds, 0), nullptr);
  const Assignment& least = breaking(bounds, 0)->front();
  EXPECT_EQ(least.at("x.size(0)"), least.at("x.size(1)"));
}

TEST(ContractBounds, SizesThatFollowAreNotNegative) {
  const Contract contract = contract_of({{"x", 1}, {"y", 1}}, {"size: y.size(0) == x.size(0) - 3"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  ASSERT_EQ(bounds.symbols.size(), 1u);
  EXPECT_EQ(bounds.symbols[0].min, 3);
  for (const Assignment& values : bounds.boundary) EXPECT_GE(values.at("y.size(0)"), 0);
}

TEST(ContractBounds, EveryLandmarkOfARelatedDimensionIsReached) {
  const Contract contract = contract_of({{"x", 1}, {"y", 1}}, {"x.size(0) <= y.size(0)", "x.size(0) >= 2"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  for (int64_t value : {2, 3, 64, 1025, 4097}) EXPECT_THAT(bounds.symbols[0].landmarks, Contains(value));
  EXPECT_EQ(bounds.symbols[1].min, 2);
}

TEST(ContractBounds, ProductsStayWithinTheMemory) {
  const Contract contract = contract_of({{"x", 3}}, {});
  const ContractBounds bounds = compute_bounds(contract, 4096);
  check_promises(contract, bounds);
  for (const Assignment& values : bounds.boundary)
    EXPECT_LE(values.at("x.size(0)") * values.at("x.size(1)") * values.at("x.size(2)"), 4096);
}

TEST(ContractBounds, OthersStaySmallAndDistinctWhileOneIsLarge) {
  const Contract contract = contract_of({{"x", 2}}, {});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  int seen = 0;
  for (const Assignment& values : bounds.boundary)
    if (values.at("x.size(0)") == 1024) {
      ++seen;
      EXPECT_LE(values.at("x.size(1)"), 8);
    }
  EXPECT_GT(seen, 0);
}

TEST(ContractBounds, NonlinearConditionIsSolvedByTrying) {
  const Contract contract = contract_of(
      {{"x", 3}}, {"x.size(0)*x.size(1) == x.size(2)*x.size(2)", "x.size(2) >= 4", "x.size(0) != x.size(1)"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  EXPECT_THAT(bounds.boundary, Not(IsEmpty()));
}

TEST(ContractBounds, ImageSizesOfAConvolutionNetAreFound) {
  // What export of resnet18 with multiples of 32 declares: primes and small values satisfy none of it.
  const Contract contract =
      contract_of({{"x", 4}}, {"size: x.size(1) == 3", "x.size(2) % 32 == 0", "x.size(3) % 32 == 0", "x.size(0) >= 1",
                               "x.size(0) <= 16", "x.size(2) >= 32", "x.size(2) <= 128", "x.size(3) >= 32",
                               "x.size(3) <= 128", "(x.size(2) - 1) // 2 % 2 != 0", "(x.size(3) - 1) // 32 + 1 != 1",
                               "((x.size(3) - 1) // 32 + 1)*((x.size(2) - 1) // 32 + 1) != 1"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  ASSERT_EQ(bounds.symbols.size(), 3u);
  EXPECT_EQ(bounds.symbols[1].landmarks, (std::vector<int64_t>{32, 64, 96, 128}));
  EXPECT_EQ(bounds.symbols[1].step, 32);
  EXPECT_EQ(bounds.symbols[2].landmarks, (std::vector<int64_t>{64, 96, 128}));
  EXPECT_NE(breaking(bounds, 1), nullptr);
}

TEST(ContractBounds, ContradictionGivesANoteAndNothingElse) {
  const Contract contract = contract_of({{"x", 1}}, {"x.size(0) > 5", "x.size(0) < 5"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  EXPECT_THAT(bounds.boundary, IsEmpty());
  EXPECT_THAT(bounds.notes, Not(IsEmpty()));
}

TEST(ContractBounds, OpaqueConditionsAreNotesAndDoNotBind) {
  const Contract contract = contract_of({{"x", 1}}, {"frobnicate(x.size(0)) == 3"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  EXPECT_THAT(bounds.boundary, Not(IsEmpty()));
  EXPECT_THAT(bounds.notes, ElementsAre("not solved: frobnicate(x.size(0)) == 3"));
}

TEST(ContractBounds, FreeStrideIsWidenedUntilItFits) {
  Contract contract = contract_of({{"x", 2}}, {"x.stride(0) != x.size(1)"});
  contract.inputs[0].strides[0] = Expr::symbol("s56");
  contract.symbols.push_back({"s56", "x.stride(0)"});
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  for (const Assignment& values : bounds.boundary) EXPECT_GT(values.at("x.stride(0)"), values.at("x.size(1)"));
  EXPECT_THAT(bounds.boundary, Not(IsEmpty()));
}

TEST(ContractBounds, HiddenSymbolOfADerivedDimensionHasItsOwnRow) {
  Contract contract = contract_of({{"x", 1}}, {"x.size(0) % 32 == 0", "x.size(0) >= 64", "x.size(0) <= 128"});
  contract.inputs[0].sizes[0] = *parse_size_text("32*s89");
  contract.symbols = {{"s89", ""}};
  const ContractBounds bounds = compute_bounds(contract, kElementsMax);
  check_promises(contract, bounds);
  ASSERT_EQ(bounds.symbols.size(), 2u);
  EXPECT_EQ(bounds.symbols[0].dim, "x.size(0)");
  EXPECT_EQ(bounds.symbols[0].symbol, "");
  EXPECT_EQ(bounds.symbols[1].symbol, "s89");
  EXPECT_EQ(bounds.symbols[1].dim, "");
  EXPECT_EQ(bounds.symbols[1].min, 2);
  EXPECT_EQ(bounds.symbols[1].max, 4);
  EXPECT_EQ(bounds.symbols[1].landmarks, (std::vector<int64_t>{2, 3, 4}));
}

TEST(ContractBounds, SameContractSameBounds) {
  const Contract contract = contract_of(
      {{"x", 2}, {"y", 2}}, {"x.size(0) + y.size(1) <= 40", "size: y.size(0) == x.size(1)", "x.size(1) % 4 == 0"});
  const ContractBounds first = compute_bounds(contract, kElementsMax), second = compute_bounds(contract, kElementsMax);
  EXPECT_EQ(first.boundary, second.boundary);
  ASSERT_EQ(first.breaking.size(), second.breaking.size());
  for (size_t i = 0; i < first.breaking.size(); ++i)
    EXPECT_EQ(first.breaking[i].assignments, second.breaking[i].assignments);
  check_promises(contract, first);
}

}  // namespace
}  // namespace aotifuzz
