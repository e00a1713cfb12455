#include "generators/sequences_generator.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;

class SequencesGeneratorTest : public ::testing::Test {
 protected:
  template <class Look>
  void look_at(int cases, Look look) {
    const Contract contract = sample_contract("equal-sizes");
    const CaseModelPtr model = make_case_model(contract, compute_bounds(contract, 1 << 16));
    const SequencesGenerator generator(model);
    for (int seed = 0; seed < cases; ++seed) {
      RapidCheckChoices choices(1, static_cast<uint64_t>(seed));
      look(contract, generator.draw(choices, contract));
    }
  }
};

TEST_F(SequencesGeneratorTest, EveryCallLiesInsideTheContract) {
  look_at(300, [](const Contract& contract, const Case& c) {
    EXPECT_TRUE(violations(contract, c).empty());
    for (size_t i = 0; i < c.then.size(); ++i) EXPECT_TRUE(violations(contract, c.call(i)).empty());
  });
}

TEST_F(SequencesGeneratorTest, EveryWayOfCallingTwiceIsDrawnAndEachCaseHasOne) {
  std::set<std::string> seen;
  look_at(600, [&](const Contract&, const Case& c) {
    if (!c.then.empty()) seen.insert("then " + std::to_string(c.then.size()));
    if (c.callers > 1) seen.insert(c.then.empty() ? "callers alone" : "callers of several");
    if (c.runs == SequencesGenerator::kManyRuns) seen.insert("many");
    if (c.runs == SequencesGenerator::kVeryManyRuns) seen.insert("very many");
    if (c.constants != CaseConstants::kExported) seen.insert(std::string(case_constants_name(c.constants)));
    for (const CaseCall& call : c.then)
      if (call.inputs != c.inputs) seen.insert("others");
    EXPECT_TRUE(!c.then.empty() || c.callers > 1 || c.runs > 2 || c.constants != CaseConstants::kExported);
  });
  EXPECT_EQ(seen, (std::set<std::string>{"then 1", "then 2", "then 3", "callers alone", "callers of several", "many",
                                         "very many", "updated", "swapped", "others"}));
}

}  // namespace
}  // namespace aotifuzz
