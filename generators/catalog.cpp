#include "generators/catalog.h"

#include <array>
#include <string>

#include "core/error.h"
#include "generators/beyond_generator.h"
#include "generators/checks_generator.h"
#include "generators/layouts_generator.h"
#include "generators/mixed_generator.h"
#include "generators/sequences_generator.h"
#include "generators/shapes_generator.h"
#include "generators/special_generator.h"

namespace aotifuzz {
namespace {

using Legality = GeneratorRow::Legality;

bool always(const CaseModel&) { return true; }

template <class G>
std::unique_ptr<Generator> make(CaseModelPtr model) {
  return std::make_unique<G>(std::move(model));
}

std::unique_ptr<Generator> make_usual_mixed(CaseModelPtr model) {
  Swarm usual{mixed_parts(*model)};
  return make_mixed(usual, std::move(model));
}

constexpr std::array<GeneratorRow, 7> kRows = {{
    {"shapes", "sizes, values and placement inside the contract", 57, Legality::kInside, always, make<ShapesGenerator>},
    {"checks", "inside the contract, input checks on, sizes of 0 and 1", 10, Legality::kInside, always,
     make<ChecksGenerator>},
    {"sequences", "inside the contract: several calls in turn and at once, many runs, other weights", 3,
     Legality::kInside, always, make<SequencesGenerator>},
    {"special", "NaN, Inf, indices outside, divisors of zero", 15, Legality::kInside, SpecialGenerator::applies,
     make<SpecialGenerator>},
    {"beyond", "exactly one condition of the contract broken", 15, Legality::kOutside, BeyondGenerator::applies,
     make<BeyondGenerator>},
    {"layouts", "one layout or overlap outside the contract", 0, Legality::kOutside, LayoutsGenerator::applies,
     make<LayoutsGenerator>},
    {"mixed", "all of the above by weight; the default", 0, Legality::kEither, always, make_usual_mixed},
}};

}  // namespace

std::span<const GeneratorRow> generator_catalog() { return kRows; }

std::vector<Swarm::Part> mixed_parts(const CaseModel& model) {
  std::vector<Swarm::Part> out;
  for (const GeneratorRow& row : kRows)
    if (row.weight > 0 && row.applies(model)) out.push_back({std::string(row.name), row.weight});
  return out;
}

std::unique_ptr<Generator> make_mixed(const Swarm& swarm, CaseModelPtr model) {
  std::vector<MixedGenerator::Part> parts;
  for (const Swarm::Part& part : swarm.parts) parts.push_back({part.weight, make_generator(part.name, model)});
  return std::make_unique<MixedGenerator>(std::move(parts));
}

CaseModelPtr make_case_model(const Contract& contract, const ContractBounds& bounds) {
  auto model = std::make_shared<const CaseModel>(contract, bounds);
  if (model->shapes.pool().empty()) {
    std::string conditions;
    for (const Condition& condition : contract.conditions)
      conditions += (conditions.empty() ? "" : ", ") + condition.text;
    throw HarnessError("no sizes that the contract allows were found", "the package's contract: " + conditions,
                       "check the conditions with `aotifuzz inspect`; replay single cases instead of fuzzing");
  }
  return model;
}

std::unique_ptr<Generator> make_generator(std::string_view name, CaseModelPtr model) {
  std::string known;
  for (const GeneratorRow& row : kRows) {
    known += (known.empty() ? "" : ", ") + std::string(row.name);
    if (row.name != name) continue;
    if (row.applies(*model)) return row.make(std::move(model));
    throw HarnessError("generator " + std::string(name) + " has nothing to draw for this package",
                       std::string(row.help), "choose another generator, for instance mixed");
  }
  throw UsageError("no generator is named " + std::string(name), "--generator", "choose one of: " + known);
}

}  // namespace aotifuzz
