// What every generator of the catalog must keep, over one contract of each kind.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "generators/catalog.h"
#include "generators/rapidcheck_choices.h"
#include "generators/seed_cases.h"
#include "generators/size_chooser.h"
#include "store/case_text.h"
#include "tests/support/contracts.h"

namespace aotifuzz {
namespace {

using support::NamedContract;
using support::sample_contracts;

constexpr uint64_t kDraws = 1000;
constexpr int64_t kElementsOfBounds = 1 << 16;

/// Solving takes a while: once per contract for the whole suite.
const CaseModelPtr& model_of(const NamedContract& sample) {
  static std::map<std::string, CaseModelPtr> models;
  CaseModelPtr& model = models[sample.name];
  if (!model) model = make_case_model(sample.contract, compute_bounds(sample.contract, kElementsOfBounds));
  return model;
}

int64_t elements(const Case& c) {
  int64_t total = 0;
  for (const CaseInput& input : c.inputs)
    if (input.kind == CaseInput::Kind::kTensor) total += input.numel();
  return total;
}

std::string shown(const Contract& contract, const Case& c) {
  std::string out = print_case(c);
  for (const Violation& v : violations(contract, c)) out += "  breaks " + v.text + " (" + v.detail + ")\n";
  return out;
}

/// Rows of the catalog that apply x sample contracts.
struct Pairing {
  const GeneratorRow* row;
  const NamedContract* sample;
};

std::vector<Pairing> pairings() {
  std::vector<Pairing> out;
  for (const NamedContract& sample : sample_contracts())
    for (const GeneratorRow& row : generator_catalog())
      if (row.applies(*model_of(sample))) out.push_back({&row, &sample});
  return out;
}

class GeneratorConformance : public ::testing::TestWithParam<Pairing> {
 protected:
  const Contract& contract() const { return GetParam().sample->contract; }
  std::unique_ptr<Generator> generator() const {
    return make_generator(GetParam().row->name, model_of(*GetParam().sample));
  }
  template <class Check>
  void for_each_draw(Check check) const {
    const std::unique_ptr<Generator> g = generator();
    for (uint64_t k = 0; k < kDraws; ++k) {
      RapidCheckChoices choices(7, k);
      check(g->draw(choices, contract()));
      if (::testing::Test::HasFailure()) return;
    }
  }
};

TEST_P(GeneratorConformance, SameChoicesGiveTheSameCaseByteForByteInAnyOrder) {
  const std::unique_ptr<Generator> one = generator(), other = generator();
  std::vector<std::string> forward(100);
  for (uint64_t k = 0; k < forward.size(); ++k) {
    RapidCheckChoices choices(3, k);
    forward[k] = print_case(one->draw(choices, contract()));
  }
  for (uint64_t k = forward.size(); k-- > 0;) {
    RapidCheckChoices choices(3, k);
    EXPECT_EQ(print_case(other->draw(choices, contract())), forward[k]);
  }
}

TEST_P(GeneratorConformance, SeedsAndCaseNumbersGiveDifferentCases) {
  const std::unique_ptr<Generator> g = generator();
  std::set<std::string> texts;
  for (uint64_t seed : {1, 2}) {
    for (uint64_t k = 0; k < 50; ++k) {
      RapidCheckChoices choices(seed, k);
      texts.insert(print_case(g->draw(choices, contract())));
    }
  }
  EXPECT_GT(texts.size(), 10u);  // a static contract has few layouts
}

TEST_P(GeneratorConformance, KeepsToItsSideOfTheContract) {
  for_each_draw([&](const Case& c) {
    const size_t broken = violations(contract(), c).size();
    switch (GetParam().row->legality) {
      case GeneratorRow::Legality::kInside:
        EXPECT_EQ(broken, 0u) << shown(contract(), c);
        break;
      case GeneratorRow::Legality::kOutside:
        EXPECT_EQ(broken, 1u) << shown(contract(), c);
        break;
      case GeneratorRow::Legality::kEither:
        EXPECT_LE(broken, 1u) << shown(contract(), c);
        break;
    }
  });
}

TEST_P(GeneratorConformance, EveryCasePrintsAndReadsBackTheSame) {
  for_each_draw([&](const Case& c) {
    const Result<Case> back = parse_case(print_case(c));
    ASSERT_TRUE(back) << back.error().what << "\n" << print_case(c);
    EXPECT_EQ(*back, c) << print_case(c);
  });
}

TEST_P(GeneratorConformance, FillsItsTensors) {
  std::vector<uint8_t> buffer;
  for_each_draw([&](const Case& c) {
    ASSERT_EQ(c.inputs.size(), contract().inputs.size());
    for (const CaseInput& input : c.inputs) {
      if (input.kind != CaseInput::Kind::kTensor) continue;
      const int64_t numel = std::min<int64_t>(input.numel(), 1000);
      buffer.resize(static_cast<size_t>(numel * dtype_bytes(input.dtype)));
      fill_values(input.values, input.dtype, numel, buffer.data());
    }
  });
}

TEST_P(GeneratorConformance, CasesStayAffordable) {
  int64_t largest = 0, sum = 0;
  for_each_draw([&](const Case& c) {
    largest = std::max(largest, elements(c));
    sum += elements(c);
  });
  EXPECT_LE(largest, 2 * kElementsMax);
  EXPECT_LE(sum / static_cast<int64_t>(kDraws), 16384);
}

TEST_P(GeneratorConformance, WithoutChoicesTheCaseIsTheSimplest) {
  BytesChoices none({});
  const Case c = generator()->draw(none, contract());
  EXPECT_EQ(violations(contract(), c).size(), GetParam().row->legality == GeneratorRow::Legality::kOutside ? 1u : 0u);
  if (GetParam().row->legality == GeneratorRow::Legality::kOutside) return;
  for (const CaseInput& input : c.inputs) {
    EXPECT_EQ(input.offset, 0);
    EXPECT_EQ(input.misalign_bytes, 0);
    if (input.kind == CaseInput::Kind::kTensor) {
      EXPECT_GT(input.numel(), 0) << print_case(c);
    }
  }
  EXPECT_LE(
      elements(c),
      std::max<int64_t>(1024, elements(model_of(*GetParam().sample)
                                           ->shapes.make_case(model_of(*GetParam().sample)->shapes.pool().front()))));
}

INSTANTIATE_TEST_SUITE_P(Catalog, GeneratorConformance, ::testing::ValuesIn(pairings()), [](const auto& info) {
  std::string name = std::string(info.param.row->name) + "_" + info.param.sample->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class SampleContract : public ::testing::TestWithParam<const NamedContract*> {
 protected:
  const NamedContract& sample() const { return *GetParam(); }
  const CaseModel& model() const { return *model_of(sample()); }
};

TEST_P(SampleContract, SeedCasesAreInsideOrBreakOneConditionAndNoneRepeats) {
  const std::vector<Case> seeds = seed_cases(model());
  std::set<std::string> texts;
  size_t inside = 0, outside = 0;
  for (const Case& c : seeds) {
    const size_t broken = violations(sample().contract, c).size();
    EXPECT_LE(broken, 1u) << shown(sample().contract, c);
    (broken == 0 ? inside : outside) += 1;
    EXPECT_TRUE(texts.insert(print_case(c)).second) << print_case(c);
    EXPECT_TRUE(parse_case(print_case(c)));
  }
  EXPECT_GT(inside, 20u);
  EXPECT_GT(outside, 3u);
  EXPECT_LT(seeds.size(), 600u);
}

TEST_P(SampleContract, SeedCasesVisitEveryLandmark) {
  const ContractBounds bounds = compute_bounds(sample().contract, kElementsOfBounds);
  std::map<std::string, std::set<int64_t>> seen;
  for (const Case& c : seed_cases(model()))
    for (const ContractBounds::SymbolBounds& symbol : bounds.symbols)
      if (const auto value = dimension_value(c, symbol.dim)) seen[symbol.dim].insert(*value);
  for (const ContractBounds::SymbolBounds& symbol : bounds.symbols) {
    if (symbol.dim.find(".size(") == std::string::npos) continue;  // free strides follow from the sizes
    for (int64_t landmark : symbol.landmarks)
      EXPECT_TRUE(seen[symbol.dim].contains(landmark)) << symbol.dim << " = " << landmark;
  }
}

TEST_P(SampleContract, SeedCasesBreakEveryConditionThatCanBeBrokenAlone) {
  const ContractBounds bounds = compute_bounds(sample().contract, kElementsOfBounds);
  std::set<std::string> broken;
  for (const Case& c : seed_cases(model()))
    for (const Violation& v : violations(sample().contract, c)) broken.insert(v.text);
  for (const ContractBounds::Breaking& breaking : bounds.breaking)
    EXPECT_TRUE(broken.contains(sample().contract.conditions[static_cast<size_t>(breaking.condition)].text))
        << sample().contract.conditions[static_cast<size_t>(breaking.condition)].text;
}

INSTANTIATE_TEST_SUITE_P(Contracts, SampleContract, ::testing::ValuesIn([] {
                           std::vector<const NamedContract*> out;
                           for (const NamedContract& sample : sample_contracts()) out.push_back(&sample);
                           return out;
                         }()),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(GeneratorCatalog, EveryRowHasAName_AHelpText_AndTheWeightsOfMixedAddUp) {
  int total = 0;
  std::set<std::string_view> names;
  for (const GeneratorRow& row : generator_catalog()) {
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_FALSE(row.help.empty());
    total += row.weight;
  }
  EXPECT_EQ(total, 100);
}

}  // namespace
}  // namespace aotifuzz
