#include "generators/catalog.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

TEST(Catalog, AnUnknownNameIsAUsageErrorThatListsTheNames) {
  const CaseModelPtr model = make_case_model(support::sample_contract("static"), ContractBounds{});
  try {
    make_generator("shape", model);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("shapes, checks"), std::string::npos) << error.what();
  }
}

TEST(Catalog, AGeneratorWithNothingToDrawIsRefusedByName) {
  EXPECT_THROW(make_generator("special", make_case_model(support::sample_contract("bytes"), ContractBounds{})),
               HarnessError);
}

TEST(Catalog, AContractThatNothingSatisfiesIsReportedWithItsConditions) {
  support::ContractMaker maker;
  const Expr n = maker.symbol("s0");
  maker.tensor("x", Dtype::kF32, {n}).guard(Expr::make(ExprOp::kLt, {support::size_of("x", 0), support::number(0)}));
  try {
    make_case_model(maker.contract(), ContractBounds{});
    FAIL() << "no error";
  } catch (const HarnessError& error) {
    EXPECT_NE(std::string(error.what()).find("x.size(0) < 0"), std::string::npos) << error.what();
  }
}

TEST(Catalog, GeneratorsAreNamedAsTheirRows) {
  const CaseModelPtr model = make_case_model(support::sample_contract("index"), ContractBounds{});
  for (const GeneratorRow& row : generator_catalog()) EXPECT_EQ(make_generator(row.name, model)->name(), row.name);
}

}  // namespace
}  // namespace aotifuzz
