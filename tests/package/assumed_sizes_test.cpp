#include "package/assumed_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "package/contract_builder.h"
#include "package/inspect_report.h"

namespace aotifuzz {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// x f32[s0, s1], idx i64[s2, s3]; `equal`: the contract has idx as i64[s0, s1]. The wrapper compares idx.size(1) with
/// x.size(1) and insists on x.size(0) == 4.
PackageInfo sample(bool equal) {
  PackageInfo package;
  Contract& contract = package.contract;
  contract.declared = true;
  for (const char* name : {"x", "idx"}) {
    InputSpec input;
    input.name = name;
    const bool own = std::string(name) == "x" || !equal;
    const std::string base = own ? name : "x";
    input.sizes = {Expr::symbol(base + "_0"), Expr::symbol(base + "_1")};
    input.strides = {Expr::integer(1), Expr::integer(1)};
    contract.inputs.push_back(input);
  }
  const auto declare = [&](const std::string& a, const std::string& b) {
    const Expr expr = Expr::make(ExprOp::kEq, {Expr::symbol(a), Expr::symbol(b)});
    contract.conditions.push_back({Condition::Kind::kSize, 1, expr, expr.text()});
  };
  if (equal) declare("idx.size(0)", "x.size(0)"), declare("idx.size(1)", "x.size(1)");
  package.compiled.emplace();
  package.compiled->input_names = {"arg0_1", "arg1_1"};
  package.compiled->symbol_dims = {{"s7", "x.size(1)"}, {"s9", "x.size(1)"}};
  package.compiled->assumed_sizes = {{0, 0, 4, ""}, {0, 1, std::nullopt, "s7"}, {1, 1, std::nullopt, "s9"}};
  return package;
}

std::vector<std::string> texts(const PackageInfo& package) {
  std::vector<std::string> out;
  for (const SizeAssumption& one : size_assumptions(package))
    out.push_back(one.text() + (one.declared ? "" : " undeclared"));
  return out;
}

TEST(AssumedSizes, AreDeclaredWhenTheContractForcesThem) {
  EXPECT_THAT(texts(sample(/*equal=*/true)), ElementsAre("x.size(0) == 4 undeclared", "idx.size(1) == x.size(1)"));
  EXPECT_THAT(texts(sample(/*equal=*/false)),
              ElementsAre("x.size(0) == 4 undeclared", "idx.size(1) == x.size(1) undeclared"));
}

TEST(AssumedSizes, WhatIsComparedIsCheckedAndWhatIsNotDeclaredIsSaid) {
  const PackageInfo equal = sample(true);
  EXPECT_THAT(unchecked_conditions(equal), ElementsAre("idx.size(0) == x.size(0)"));
  EXPECT_THAT(undeclared_checks(equal), ElementsAre("x.size(0) == 4"));
  EXPECT_THAT(undeclared_checks(sample(false)), Contains("idx.size(1) == x.size(1)"));
}

TEST(AssumedSizes, AStaticSizeOfTheContractIsDeclared) {
  PackageInfo package = sample(true);
  package.contract.inputs[0].sizes[0] = Expr::integer(4);
  EXPECT_THAT(undeclared_checks(package), IsEmpty());
}

TEST(AssumedSizes, TellAStockPackageWhichSizesAreEqual) {
  CompiledModel model;
  model.input_names = {"arg0_1", "arg1_1"};
  for (int input : {0, 1})
    for (int dim : {0, 1}) model.checks.push_back({input, InputCheck::Kind::kMinSize, dim, 2, ""});
  model.symbol_dims = {{"s7", "arg0_1.size(1)"}, {"s9", "arg0_1.size(1)"}};
  model.assumed_sizes = {{0, 1, std::nullopt, "s7"}, {1, 1, std::nullopt, "s9"}};
  const Contract contract = build_contract(model);
  EXPECT_EQ(contract.inputs[1].sizes[1].text(), contract.inputs[0].sizes[1].text());
  EXPECT_NE(contract.inputs[1].sizes[0].text(), contract.inputs[0].sizes[0].text());
  std::vector<std::string> conditions;
  for (const Condition& condition : contract.conditions) conditions.push_back(condition.text);
  EXPECT_THAT(conditions, Contains("arg1_1.size(1) == arg0_1.size(1)"));
  EXPECT_THAT(conditions, Not(Contains("arg0_1.size(1) == arg0_1.size(1)")));
  EXPECT_EQ(contract.symbols.size(), 3u);
}

TEST(AssumedSizes, ASizeThatNothingDefinesMakesNoOtherEqual) {
  CompiledModel model;
  model.input_names = {"arg0_1", "arg1_1"};
  model.checks = {{0, InputCheck::Kind::kStaticSize, 0, 4, ""}, {1, InputCheck::Kind::kMinSize, 1, 2, ""}};
  // A fixed size, a dimension without checks, a stride, one that is no dimension, and two that wait for each other.
  for (const char* dim : {"arg0_1.size(0)", "arg0_1.size(7)", "arg0_1.stride(0)", "nothing", "arg1_1.size(1)"}) {
    model.symbol_dims = {{"s1", dim}, {"s2", "arg1_1.size(0)"}};
    model.assumed_sizes = {{1, 0, std::nullopt, "s1"}, {1, 1, std::nullopt, "s2"}};
    const Contract contract = build_contract(model);
    ASSERT_EQ(contract.symbols.size(), 2u) << dim;
    EXPECT_EQ(contract.inputs[1].sizes[0].text(), contract.symbols[0].name) << dim;
    EXPECT_EQ(contract.inputs[1].sizes[1].text(), contract.symbols[1].name) << dim;
  }
}

/// As sample(), with a symbol for each size, x.size(0) == 37 and at most 1500 in idx.size(0).
PackageInfo with_symbols(bool equal) {
  PackageInfo package = sample(equal);
  for (const InputSpec& input : package.contract.inputs)
    for (size_t d = 0; d < input.sizes.size(); ++d)
      if (input.sizes[d].name().starts_with(input.name))
        package.contract.symbols.push_back(
            {input.sizes[d].name(), input.name + ".size(" + std::to_string(d) + ")", 0, {}});
  package.compiled->assumed_sizes[0].value = 37;
  package.compiled->checks = {{1, InputCheck::Kind::kMaxSize, 0, 1500, "idx.size(0) <= 1500"},
                              {1, InputCheck::Kind::kMinSize, 9, 2, "idx.size(9) >= 2"},
                              {7, InputCheck::Kind::kMinSize, 0, 2, "nothing"}};
  return package;
}

TEST(AssumedSizes, WhatIsNotDeclaredIsATarget) {
  const SizeTargets targets = assumption_targets(with_symbols(/*equal=*/false));
  EXPECT_THAT(targets.values, UnorderedElementsAre(Pair("x.size(0)", ElementsAre(36, 37, 38)),
                                                   Pair("idx.size(0)", ElementsAre(1499, 1500, 1501))));
  EXPECT_THAT(targets.related, ElementsAre(Pair("idx.size(1)", "x.size(1)")));
  // Declared: idx.size(1) == x.size(1), and idx.size(0) is x.size(0).
  const SizeTargets declared = assumption_targets(with_symbols(/*equal=*/true));
  EXPECT_THAT(declared.values, ElementsAre(Pair("x.size(0)", ElementsAre(36, 37, 38, 1499, 1500, 1501))));
  EXPECT_THAT(declared.related, IsEmpty());
  PackageInfo stock = with_symbols(false);
  stock.contract.declared = false;  // its contract is what the package assumes
  EXPECT_THAT(assumption_targets(stock).values, IsEmpty());
}

TEST(AssumedSizes, TargetsAreTriedAsFarAsTheContractAllows) {
  const PackageInfo package = with_symbols(/*equal=*/false);
  const auto landmarks = [](const ContractBounds& bounds) {
    for (const auto& symbol : bounds.symbols)
      if (symbol.dim == "x.size(0)") return symbol.landmarks;
    return std::vector<int64_t>();
  };
  const auto tries = [](const ContractBounds& bounds, int64_t idx, int64_t x) {
    return std::any_of(bounds.boundary.begin(), bounds.boundary.end(),
                       [&](const Assignment& all) { return all.at("idx.size(1)") == idx && all.at("x.size(1)") == x; });
  };
  const ContractBounds plain = compute_bounds(package.contract, 1 << 16);
  EXPECT_THAT(landmarks(plain), Not(Contains(37)));
  EXPECT_FALSE(tries(plain, 17, 18));
  const ContractBounds aimed = compute_bounds(package.contract, 1 << 16, assumption_targets(package));
  EXPECT_THAT(landmarks(aimed), AllOf(Contains(36), Contains(37), Contains(38)));
  EXPECT_TRUE(tries(aimed, 17, 17) && tries(aimed, 17, 18) && tries(aimed, 17, 16) && tries(aimed, 17, 34));
}

}  // namespace
}  // namespace aotifuzz
