#include "generators/audit_call_probes.h"

#include <gtest/gtest.h>

#include <map>

#include "generators/audit_probes.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::ContractMaker;
using support::number;
using support::sample_contracts;

Case base_of(const Contract& contract) {
  return audit_bases(CaseModel(contract, compute_bounds(contract, 1 << 16))).at(0);
}

std::string untried_text(const AuditCallProbes& calls) {
  std::string out;
  for (const AuditUntried& one : calls.untried) out += one.what + ": " + one.why + "\n";
  return out;
}

std::map<AuditSubject, int> counted(const AuditCallProbes& calls) {
  std::map<AuditSubject, int> out;
  for (const AuditProbe& probe : calls.probes) ++out[probe.subject];
  return out;
}

TEST(AuditCallProbes, BreakTheConditionThatTheyAreNamedAfterAndNoOther) {
  for (const auto& [name, contract] : sample_contracts()) {
    const AuditCallProbes calls = audit_call_probes(contract, base_of(contract), false);
    EXPECT_FALSE(calls.probes.empty()) << name;
    for (const AuditProbe& probe : calls.probes) {
      const std::vector<Violation> broken = violations(contract, probe.input);
      if (probe.subject == AuditSubject::kIndexing) {
        EXPECT_TRUE(broken.empty()) << name << ": " << probe.label;
        continue;
      }
      ASSERT_EQ(broken.size(), 1u) << name << ": " << probe.item;
      EXPECT_EQ(broken[0].text, probe.item) << name;
    }
  }
}

TEST(AuditCallProbes, TakeEachInputAwayOnceAndAddOne) {
  ContractMaker maker;
  const Expr rows = maker.symbol("s0");
  maker.tensor("x", Dtype::kF32, {rows, number(4)}).tensor("surplus", Dtype::kI64, {rows});
  const AuditCallProbes calls = audit_call_probes(maker.contract(), base_of(maker.contract()), false);
  EXPECT_EQ(counted(calls)[AuditSubject::kCount], 3);
  for (const AuditProbe& probe : calls.probes) {
    if (probe.item != "number of inputs as exported") continue;
    ASSERT_EQ(probe.input.inputs.size(), 3u);
    EXPECT_EQ(probe.input.inputs[2].name, "surplus_") << "two inputs must not have one name";
    EXPECT_EQ(probe.input.inputs[2].dtype, Dtype::kI64);
  }
}

TEST(AuditCallProbes, LieBeyondWhat32BitsHold) {
  ContractMaker maker;
  const Expr rows = maker.symbol("s0", 2), free = maker.symbol("s1");
  maker.tensor("x", Dtype::kF32, {rows, number(4)}, {free, number(1)});
  Contract contract = maker.contract();
  const Case base = [&] {
    Case c;
    CaseInput x;
    x.name = "x";
    x.sizes = {3, 4};
    x.strides = std::vector<int64_t>{4, 1};
    c.inputs = {x};
    return c;
  }();
  // A stride that the sizes give, or that nothing states, is none that a caller chooses.
  EXPECT_EQ(counted(audit_call_probes(contract, base, false))[AuditSubject::kIndexing], 1);
  for (SymbolSpec& symbol : contract.symbols)
    if (symbol.name == "s1") symbol.dim = "x.stride(0)";
  const AuditCallProbes calls = audit_call_probes(contract, base, false);
  EXPECT_EQ(counted(calls)[AuditSubject::kIndexing], 2);
  for (const AuditProbe& probe : calls.probes)
    if (probe.subject == AuditSubject::kIndexing)
      EXPECT_GT(probe.input.inputs[0].storage_elements(), int64_t{1} << 31) << probe.label;
}

TEST(AuditCallProbes, SayWhatThisMachineCannotTry) {
  ContractMaker maker;
  maker.tensor("x", Dtype::kF32, {maker.symbol("s0")});
  Contract contract = maker.contract();
  const Case base = base_of(contract);
  EXPECT_EQ(untried_text(audit_call_probes(contract, base, false)), "inputs on a GPU: no GPU here\n");
  EXPECT_EQ(untried_text(audit_call_probes(contract, base, true)),
            "inputs on a GPU: the worker of a CPU package has no CUDA\n");
  EXPECT_EQ(counted(audit_call_probes(contract, base, true))[AuditSubject::kDevice], 0);
  contract.inputs[0].device = "cuda:0";
  const AuditCallProbes calls = audit_call_probes(contract, base, true);
  EXPECT_EQ(counted(calls)[AuditSubject::kDevice], 1);
  EXPECT_EQ(counted(calls)[AuditSubject::kIndexing], 0);
  EXPECT_NE(untried_text(calls).find("inputs on another GPU than the package's: "), std::string::npos);
  EXPECT_NE(untried_text(calls).find("x: elements beyond 2^31: "), std::string::npos);
}

}  // namespace
}  // namespace aotifuzz
