#include "generators/swarm.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

const std::vector<Swarm::Part> kUsual = {{"shapes", 60}, {"checks", 10}, {"beyond", 3}};

TEST(Swarm, TheSameSeedDrawsTheSameMix) {
  EXPECT_EQ(Swarm::drawn(kUsual, 7).text(kUsual), Swarm::drawn(kUsual, 7).text(kUsual));
}

TEST(Swarm, PartsAreLeftOutOrWeighedOtherwiseButTheFirstStays) {
  std::set<std::string> texts, left_out;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Swarm swarm = Swarm::drawn(kUsual, seed);
    ASSERT_FALSE(swarm.parts.empty());
    EXPECT_EQ(swarm.parts[0].name, "shapes");
    for (const Swarm::Part& part : swarm.parts) EXPECT_GT(part.weight, 0);
    texts.insert(swarm.text(kUsual));
    for (const char* name : {"no checks", "no beyond"})
      if (swarm.text(kUsual).find(name) != std::string::npos) left_out.insert(name);
  }
  EXPECT_EQ(left_out.size(), 2u);
  EXPECT_TRUE(texts.contains("")) << "now and then nothing is special";
  EXPECT_TRUE(texts.contains("checks x4, no beyond"));
  EXPECT_TRUE(texts.contains("checks x0.5, beyond x2"));
}

TEST(Swarm, AJobDrawsWhatItsMixHoldsOnly) {
  const Contract contract = support::sample_contract("index");
  const CaseModelPtr model = make_case_model(contract, compute_bounds(contract, 1 << 16));
  const std::unique_ptr<Generator> mixed = make_mixed(Swarm{{{"shapes", 1}, {"checks", 3}}}, model);
  int checked = 0;
  for (uint64_t k = 0; k < 400; ++k) {
    RapidCheckChoices choices(1, k);
    const Case c = mixed->draw(choices, contract);
    EXPECT_TRUE(violations(contract, c).empty());
    checked += c.input_checks;
  }
  EXPECT_NEAR(checked, 300, 40);
}

}  // namespace
}  // namespace aotifuzz
