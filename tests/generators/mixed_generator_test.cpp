#include "generators/mixed_generator.h"

#include <gtest/gtest.h>

#include <map>

#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

TEST(MixedGenerator, SharesFollowTheWeights) {
  const Contract& contract = support::sample_contract("index");
  const std::unique_ptr<Generator> mixed =
      make_generator("mixed", make_case_model(contract, compute_bounds(contract, 1 << 16)));
  int outside = 0, checked = 0, sequences = 0;
  for (uint64_t k = 0; k < 4000; ++k) {
    RapidCheckChoices choices(1, k);
    const Case c = mixed->draw(choices, contract);
    outside += !violations(contract, c).empty();
    checked += c.input_checks;
    sequences += !c.then.empty() || c.callers > 1 || c.runs != 2 || c.constants != CaseConstants::kExported;
  }
  EXPECT_NEAR(outside, 600, 100);
  EXPECT_NEAR(checked, 400, 80);
  EXPECT_NEAR(sequences, 120, 40);
}

TEST(MixedGenerator, PartsThatDoNotApplyAreLeftOut) {
  const Contract& contract = support::sample_contract("bytes");  // no special values
  const std::unique_ptr<Generator> mixed =
      make_generator("mixed", make_case_model(contract, compute_bounds(contract, 1 << 16)));
  for (uint64_t k = 0; k < 500; ++k) {
    RapidCheckChoices choices(1, k);
    EXPECT_EQ(mixed->draw(choices, contract).inputs.size(), 2u);
  }
}

}  // namespace
}  // namespace aotifuzz
