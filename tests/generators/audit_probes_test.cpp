#include "generators/audit_probes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;
using support::sample_contracts;

CaseModel model_of(const Contract& contract) { return CaseModel(contract, compute_bounds(contract, 1 << 16)); }

TEST(AuditProbes, BreakTheConditionThatTheyAreNamedAfterAndNoOther) {
  for (const auto& [name, contract] : sample_contracts()) {
    for (const AuditProbe& probe : audit_probes(model_of(contract))) {
      const std::vector<Violation> broken = violations(contract, probe.input);
      if (probe.subject == AuditSubject::kPlacement || probe.subject == AuditSubject::kValues) {
        EXPECT_TRUE(broken.empty()) << name << ": " << probe.label;
        continue;
      }
      ASSERT_EQ(broken.size(), 1u) << name << ": " << probe.item;
      EXPECT_EQ(broken[0].text, probe.item) << name;
      EXPECT_FALSE(probe.label.empty()) << name << ": " << probe.item;
    }
  }
}

TEST(AuditProbes, TryEachConditionOnceBeforeAnyAgain) {
  const std::vector<AuditProbe> probes = audit_probes(model_of(sample_contract("equal-sizes")));
  EXPECT_TRUE(
      std::is_sorted(probes.begin(), probes.end(), [](const auto& a, const auto& b) { return a.round < b.round; }));
  std::set<std::string> first, all;
  for (const AuditProbe& probe : probes) {
    all.insert(probe.item);
    if (probe.round == 0) first.insert(probe.item);
  }
  EXPECT_EQ(first, all);
  std::set<AuditSubject> subjects;
  for (const AuditProbe& probe : probes) subjects.insert(probe.subject);
  for (const AuditSubject subject : {AuditSubject::kRelation, AuditSubject::kLayout, AuditSubject::kPlacement,
                                     AuditSubject::kDtype, AuditSubject::kRank, AuditSubject::kStorage})
    EXPECT_TRUE(subjects.contains(subject)) << audit_subject_name(subject);
}

TEST(AuditProbes, IndicesGoPastEachEnd) {
  std::set<std::string> labels;
  for (const AuditProbe& probe : audit_probes(model_of(sample_contract("index"))))
    if (probe.subject == AuditSubject::kValues) labels.insert(probe.label);
  EXPECT_TRUE(labels.contains("minus-one"));
  EXPECT_TRUE(labels.contains("past-end"));
}

TEST(AuditProbes, AreTheSameEveryTimeAndNoneTwice) {
  const CaseModel model = model_of(sample_contract("index"));
  const std::vector<AuditProbe> one = audit_probes(model), two = audit_probes(model);
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].input, two[i].input);
    for (size_t k = 0; k < i; ++k) EXPECT_FALSE(one[i].input == one[k].input) << one[i].item << ", " << one[i].label;
  }
}

TEST(AuditBases, AreLegal) {
  for (const auto& [name, contract] : sample_contracts()) {
    const std::vector<Case> bases = audit_bases(model_of(contract));
    EXPECT_FALSE(bases.empty()) << name;
    for (const Case& c : bases) EXPECT_TRUE(violations(contract, c).empty()) << name;
  }
}

}  // namespace
}  // namespace aotifuzz
