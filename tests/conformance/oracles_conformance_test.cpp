// What every oracle of the catalog must do, whatever it judges.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "oracles/catalog.h"
#include "tests/support/planted_faults.h"

namespace aotifuzz {
namespace {

using testing::make_scenario;
using testing::planted_faults;
using testing::PlantedFault;
using testing::Scenario;

bool fails(const Judgement& judgement) {
  for (const Verdict& verdict : judgement.verdicts)
    if (verdict.status == VerdictStatus::kFail) return true;
  return false;
}

std::string readable(std::string_view name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

class EveryOracle : public ::testing::TestWithParam<OracleRow> {};
INSTANTIATE_TEST_SUITE_P(Catalog, EveryOracle, ::testing::ValuesIn(oracle_rows().begin(), oracle_rows().end()),
                         [](const auto& info) { return readable(info.param.name); });

TEST_P(EveryOracle, IsNamedAsItsRow) { EXPECT_EQ(GetParam().make()->name(), GetParam().name); }

TEST_P(EveryOracle, PassesOnIdenticalRuns) {
  const Judgement judgement = make_scenario().judge(*GetParam().make());
  ASSERT_EQ(judgement.verdicts.size(), 1u);
  EXPECT_EQ(judgement.verdicts[0].status, VerdictStatus::kPass) << judgement.verdicts[0].reason;
  EXPECT_EQ(judgement.verdicts[0].oracle, GetParam().name);
}

TEST_P(EveryOracle, SkipsWhenTheSubjectRunIsMissing) {
  const Judgement judgement = make_scenario().judge(*GetParam().make(), {RunKind::kSubject});
  ASSERT_EQ(judgement.verdicts.size(), 1u);
  EXPECT_EQ(judgement.verdicts[0].status, VerdictStatus::kSkip);
  EXPECT_NE(judgement.verdicts[0].reason, "");
}

TEST_P(EveryOracle, DoesNotPassWhenTheReferenceRunIsMissing) {
  const Judgement judgement = make_scenario().judge(*GetParam().make(), {RunKind::kReference});
  for (const Verdict& verdict : judgement.verdicts) EXPECT_EQ(verdict.status, VerdictStatus::kSkip) << verdict.reason;
}

TEST_P(EveryOracle, NeverThrowsOnRejectedRuns) {
  for (int mask = 1; mask < 8; ++mask) {
    Scenario scenario = make_scenario();
    RunRecord* const records[] = {&scenario.reference, &scenario.subject, &scenario.again};
    for (int k = 0; k < 3; ++k)
      if (mask >> k & 1) {
        records[k]->outcome.kind = OutcomeKind::kRejected;
        records[k]->outcome.message = "no";
        records[k]->outputs.clear();
      }
    EXPECT_NO_THROW(scenario.judge(*GetParam().make())) << mask;
  }
}

TEST_P(EveryOracle, NeverThrowsOnDamagedRecords) {
  for (const PlantedFault& fault : planted_faults()) {
    Scenario scenario = make_scenario();
    fault.plant(scenario.subject);
    EXPECT_NO_THROW(scenario.judge(*GetParam().make())) << fault.name;
  }
  Scenario scenario = make_scenario();
  scenario.subject.outputs.clear();
  scenario.subject.inputs_after.clear();
  EXPECT_NO_THROW(scenario.judge(*GetParam().make()));
}

TEST_P(EveryOracle, StaysSilentOrSkipsWithoutAReference) {
  Scenario scenario = make_scenario();
  scenario.has_reference = false;
  EXPECT_FALSE(fails(scenario.judge(*GetParam().make())));
}

TEST_P(EveryOracle, OutOfMemoryIsNoFinding) {
  Scenario scenario = make_scenario();
  scenario.subject.outcome.kind = OutcomeKind::kOutOfMemory;
  scenario.subject.outputs.clear();
  EXPECT_FALSE(fails(scenario.judge(*GetParam().make())));
}

TEST_P(EveryOracle, SignaturesHaveNoSizes) {
  for (const PlantedFault& fault : planted_faults()) {
    if (fault.oracle != GetParam().name) continue;
    Scenario scenario = make_scenario();
    fault.plant(scenario.subject);
    for (const Verdict& verdict : scenario.judge(*GetParam().make()).verdicts) {
      EXPECT_EQ(verdict.signature.find("35"), std::string::npos) << verdict.signature;
      EXPECT_EQ(verdict.signature.find("0x"), std::string::npos) << verdict.signature;
    }
  }
}

class EveryPlantedFault : public ::testing::TestWithParam<PlantedFault> {};
INSTANTIATE_TEST_SUITE_P(Planted, EveryPlantedFault,
                         ::testing::ValuesIn(planted_faults().begin(), planted_faults().end()),
                         [](const auto& info) { return readable(info.param.name); });

std::vector<PlantedFault> mirrored_faults() {
  std::vector<PlantedFault> out;
  for (const PlantedFault& fault : planted_faults())
    if (!fault.one_sided) out.push_back(fault);
  return out;
}

class EveryMirroredFault : public ::testing::TestWithParam<PlantedFault> {};
INSTANTIATE_TEST_SUITE_P(Planted, EveryMirroredFault, ::testing::ValuesIn(mirrored_faults()),
                         [](const auto& info) { return readable(info.param.name); });

void expect_found(const Scenario& scenario, const PlantedFault& fault) {
  const Verdict verdict = scenario.verdict(fault.oracle);
  ASSERT_EQ(verdict.status, VerdictStatus::kFail) << verdict_status_name(verdict.status) << " " << verdict.reason;
  EXPECT_EQ(verdict.cls, fault.cls);
  EXPECT_TRUE(verdict.fault);
  EXPECT_TRUE(verdict.signature.starts_with(verdict_class_name(fault.cls))) << verdict.signature;
  EXPECT_FALSE(verdict.measures.empty());
  EXPECT_NE(verdict.reason, "");
}

TEST_P(EveryPlantedFault, IsFoundInThePackage) {
  Scenario scenario = make_scenario();
  GetParam().plant(scenario.subject);
  expect_found(scenario, GetParam());
}

TEST_P(EveryMirroredFault, IsFoundWhenTheOtherSideHasTheOddValue) {
  Scenario scenario = make_scenario();
  // The whole reference side, referee included, says the odd thing; the package is then the one that is wrong.
  scenario.reference = testing::copy_of(scenario.reference, scenario.reference.request);
  scenario.reference.watched = testing::make_scenario().reference.watched;
  GetParam().plant(scenario.reference);
  scenario.change_referee = GetParam().plant;
  expect_found(scenario, GetParam());
}

TEST_P(EveryPlantedFault, IsAGapOutsideTheContractOrNothing) {
  Scenario scenario = make_scenario();
  scenario.violations.push_back({Condition::Kind::kRange, 0, "x.size(0) <= 4", "x.size(0) = 5"});
  GetParam().plant(scenario.subject);
  for (const OracleRow& row : oracle_rows())
    for (const Verdict& verdict : scenario.judge(*row.make()).verdicts)
      if (verdict.status == VerdictStatus::kFail) EXPECT_FALSE(verdict.fault) << row.name << " " << verdict.signature;
}

TEST(OracleConformance, SecondRunThatDiffersIsUnstable) {
  Scenario scenario = make_scenario();
  scenario.again.outputs[0].view({-1})[1].mul_(1 + 0x1p-23);
  const Verdict verdict = scenario.verdict("stable");
  ASSERT_EQ(verdict.status, VerdictStatus::kFail);
  EXPECT_EQ(verdict.cls, VerdictClass::kUnstable);
  EXPECT_EQ(verdict.signature, "unstable output 0 aten.sum.dim_IntList");
}

TEST(OracleConformance, ReferenceThatRaisesWherePackageReturnsMissesAnError) {
  Scenario scenario = make_scenario();
  scenario.reference.outcome = {OutcomeKind::kRejected, Stage::kReference, "index 12 is out of bounds for size 9"};
  scenario.reference.outputs.clear();
  const Verdict verdict = scenario.verdict("rejection");
  ASSERT_EQ(verdict.status, VerdictStatus::kFail);
  EXPECT_EQ(verdict.cls, VerdictClass::kMissesError);
  EXPECT_FALSE(verdict.fault);
  EXPECT_EQ(verdict.signature, "misses-error index # is out of bounds for size #");
}

TEST(OracleCatalog, NamesAreUniqueAndHaveHelp) {
  std::set<std::string_view> names;
  for (const OracleRow& row : oracle_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty());
    EXPECT_LT(row.help.size(), 80u);
  }
}

}  // namespace
}  // namespace aotifuzz
