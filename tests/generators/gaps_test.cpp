#include "generators/gaps.h"

#include <gtest/gtest.h>

#include <set>

#include "generators/case_model.h"
#include "generators/rapidcheck_choices.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::sample_contract;

CaseModel model(const std::string& name) {
  return CaseModel(sample_contract(name), compute_bounds(sample_contract(name), 1 << 16));
}

std::vector<Gap> gaps_of(const std::string& name) { return model(name).gaps.gaps(); }

std::set<std::string> broken_by_examples(const std::string& name) {
  std::set<std::string> out;
  for (const Gap& gap : gaps_of(name))
    for (const Violation& v : violations(sample_contract(name), gap.example)) out.insert(v.text);
  return out;
}

TEST(Gaps, EveryExampleBreaksExactlyOneCondition) {
  for (const support::NamedContract& sample : support::sample_contracts())
    for (const Gap& gap : gaps_of(sample.name))
      EXPECT_EQ(violations(sample.contract, gap.example).size(), 1u) << sample.name;
}

TEST(Gaps, RelationsRangesStaticSizesDtypesAndLayoutsAreAllBroken) {
  const std::set<std::string> broken = broken_by_examples("equal-sizes");
  for (const char* text :
       {"i.size(1) == x.size(1)", "i.size(0) == x.size(0)", "x.size(2) == 4", "x.size(0) <= 64", "x.size(1) >= 1",
        "x.dtype == f32", "i.dtype == i64", "x: strides as exported (dense)", "x: has storage", "i.dim() == 2"})
    EXPECT_TRUE(broken.contains(text)) << text;
}

TEST(Gaps, ABrokenRelationIsShownWithElementsOnBothSides) {
  // An empty tensor breaks it too, but reads nothing: there must be one that does.
  bool found = false;
  for (const Gap& gap : gaps_of("equal-sizes")) {
    const std::vector<Violation> v = violations(sample_contract("equal-sizes"), gap.example);
    found |=
        v[0].text == "i.size(1) == x.size(1)" && gap.example.inputs[0].numel() > 0 && gap.example.inputs[1].numel() > 0;
  }
  EXPECT_TRUE(found);
}

TEST(Gaps, InputsOfOneDtypeAreMadeToOverlap) {
  EXPECT_TRUE(broken_by_examples("product").contains("y: shares no memory with x"));
  EXPECT_FALSE(broken_by_examples("equal-sizes").contains("i: shares no memory with x"));
}

TEST(Gaps, FixedScalarsAreChanged) { EXPECT_TRUE(broken_by_examples("scalars").contains("k: value fixed at export")); }

TEST(Gaps, DrawsVaryAndStayWithTheirGap) {
  const CaseModel m = model("equal-sizes");
  for (const Gap& gap : m.gaps.gaps()) {
    if (gap.kind != Gap::Kind::kLayout) continue;
    std::set<std::vector<int64_t>> sizes;
    for (uint64_t k = 0; k < 40; ++k) {
      RapidCheckChoices choices(1, k);
      const Case c = m.gaps.draw(choices, gap, m.shapes);
      const std::vector<Violation> v = violations(sample_contract("equal-sizes"), c);
      ASSERT_EQ(v.size(), 1u);
      EXPECT_EQ(v[0].input, gap.input);
      sizes.insert(c.inputs[0].sizes);
    }
    EXPECT_GT(sizes.size(), 10u);
  }
}

TEST(Gaps, PickKeepsToTheKindsWithWeight) {
  const CaseModel m = model("equal-sizes");
  GapTable::KindWeights weights{};
  EXPECT_FALSE(m.gaps.has_any(weights));
  weights[static_cast<size_t>(Gap::Kind::kDtype)] = 3;
  ASSERT_TRUE(m.gaps.has_any(weights));
  for (uint64_t k = 0; k < 50; ++k) {
    RapidCheckChoices choices(1, k);
    EXPECT_EQ(m.gaps.pick(choices, weights).kind, Gap::Kind::kDtype);
  }
}

}  // namespace
}  // namespace aotifuzz
