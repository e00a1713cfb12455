#include "package/assumed_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "package/contract_builder.h"
#include "package/inspect_report.h"

namespace aotifuzz {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

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

}  // namespace
}  // namespace aotifuzz
