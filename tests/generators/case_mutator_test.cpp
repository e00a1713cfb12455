#include "generators/case_mutator.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::NamedContract;
using support::sample_contract;
using support::sample_contracts;

struct Subject {
  explicit Subject(const Contract& contract, const std::string& generator = "shapes")
      : model(make_case_model(contract, compute_bounds(contract, 1 << 16))),
        fresh(make_generator(generator, model)),
        mutator(model, fresh) {}
  Case draw(uint64_t k) const {
    RapidCheckChoices choices(1, k);
    return fresh->draw(choices, model->shapes.contract());
  }
  Case mutate(const Case& c, uint64_t k) const {
    RapidCheckChoices choices(2, k);
    return mutator.mutate(c, choices);
  }
  CaseModelPtr model;
  std::shared_ptr<const Generator> fresh;
  CaseMutator mutator;
};

TEST(CaseMutator, ALegalCaseStaysLegalThroughAnyNumberOfMutations) {
  for (const NamedContract& named : sample_contracts()) {
    const Subject subject(named.contract);
    Case c = subject.draw(0);
    for (uint64_t k = 0; k < 300; ++k) {
      c = subject.mutate(c, k);
      ASSERT_TRUE(subject.mutator.fits(c)) << named.name << " " << k;
      const auto broken = violations(named.contract, c);
      ASSERT_TRUE(broken.empty()) << named.name << " " << k << ": " << broken.front().text;
    }
  }
}

TEST(CaseMutator, ACrossOfLegalCasesIsLegalAndHasSomethingOfBoth) {
  for (const NamedContract& named : sample_contracts()) {
    const Subject subject(named.contract);
    int of_other = 0, of_both = 0;
    for (uint64_t k = 0; k < 200; ++k) {
      const Case one = subject.draw(2 * k), other = subject.draw(2 * k + 1);
      RapidCheckChoices choices(3, k);
      const Case crossed = subject.mutator.cross(one, other, choices);
      ASSERT_TRUE(violations(named.contract, crossed).empty()) << named.name << " " << k;
      bool first = false, second = false;
      for (size_t i = 0; i < crossed.inputs.size(); ++i) {
        EXPECT_EQ(crossed.inputs[i].sizes, one.inputs[i].sizes);
        first |= crossed.inputs[i].values == one.inputs[i].values;
        second |= crossed.inputs[i].values == other.inputs[i].values;
      }
      of_other += second, of_both += first && second;
    }
    if (named.name == "equal-sizes") EXPECT_GT(of_other, 50);
    if (named.name == "equal-sizes") EXPECT_GT(of_both, 20);
  }
}

TEST(CaseMutator, TheSameChoicesGiveTheSameCase) {
  const Subject subject(sample_contract("equal-sizes"));
  const Case c = subject.draw(5);
  for (uint64_t k = 0; k < 50; ++k) EXPECT_EQ(subject.mutate(c, k), subject.mutate(c, k));
}

TEST(CaseMutator, EveryPartOfACaseIsReached) {
  const Subject subject(sample_contract("equal-sizes"));
  const Case c = subject.draw(5);
  int sizes = 0, values = 0, placement = 0, checks = 0, near = 0, same = 0;
  for (uint64_t k = 0; k < 2'000; ++k) {
    const Case mutated = subject.mutate(c, k);
    bool other_sizes = false, other_values = false;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      other_sizes |= mutated.inputs[i].sizes != c.inputs[i].sizes;
      other_values |= !(mutated.inputs[i].values == c.inputs[i].values);
      placement += mutated.inputs[i].offset != c.inputs[i].offset;
      near += std::abs(mutated.inputs[i].sizes[0] - c.inputs[i].sizes[0]) == 1;
    }
    sizes += other_sizes, values += other_values, checks += mutated.input_checks != c.input_checks;
    same += mutated == c;
  }
  EXPECT_GT(sizes, 600);
  EXPECT_GT(values, 600);
  EXPECT_GT(placement, 20);
  EXPECT_GT(checks, 50);
  EXPECT_GT(near, 50);
  EXPECT_LT(same, 200);
}

TEST(CaseMutator, IndicesStayWithinWhatTheyIndexWhenSizesChange) {
  for (const NamedContract& named : sample_contracts()) {
    const Subject subject(named.contract);
    for (size_t i = 0; i < named.contract.inputs.size(); ++i) {
      if (named.contract.inputs[i].role.kind != ValueRole::Kind::kIndex) continue;
      Case c = subject.draw(1);
      for (uint64_t k = 0; k < 200; ++k) {
        c = subject.mutate(c, k);
        const CaseInput& input = c.inputs[i];
        const auto bound = named.contract.inputs[i].role.bound->evaluate(
            [&c](const std::string& name) { return dimension_value(c, name); });
        if (!bound || *bound == 0) continue;  // then there is no legal index, and the reference refuses
        for (int64_t e = 0; e < input.numel(); ++e)
          ASSERT_LT(to_int64(value_at(input.values, e, input.numel())), *bound) << named.name << " " << k;
      }
    }
  }
}

TEST(CaseMutator, CasesOfOtherProgramsDoNotFit) {
  const Subject subject(sample_contract("equal-sizes"));
  Case c = subject.draw(1);
  EXPECT_TRUE(subject.mutator.fits(c));
  c.inputs[0].name += "_";
  EXPECT_FALSE(subject.mutator.fits(c));
  c.inputs.clear();
  EXPECT_FALSE(subject.mutator.fits(c));
}

/// Whatever a case has wrong with it, mutations end in a case that can be printed and run.
TEST(CaseMutator, CasesOutsideTheContractCanBeBuiltUpon) {
  for (const NamedContract& named : sample_contracts()) {
    const Subject subject(named.contract, "mixed");
    for (uint64_t k = 0; k < 200; ++k) {
      const Case mutated = subject.mutate(subject.draw(k), k);
      EXPECT_TRUE(subject.mutator.fits(mutated)) << named.name << " " << k;
    }
  }
}

}  // namespace
}  // namespace aotifuzz
