#include "generators/sequences_generator.h"

#include <utility>

#include "generators/layouts.h"
#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {
namespace {

constexpr int kThen = 0, kCallers = 1, kMany = 2, kConstants = 3;
constexpr int kWeights[] = {50, 20, 15, 15};
constexpr uint64_t kFurtherCallsMax = 3, kFurtherCallersMax = 3;

std::vector<CaseInput> drawn_inputs(Choices& choices, const ShapeModel& shapes, const Contract& contract) {
  Case c = shapes.make_case(choose_sizes(choices, shapes));
  choose_values(choices, contract, c);
  for (CaseInput& input : c.inputs) choose_placement(choices, input);
  return std::move(c.inputs);
}

}  // namespace

Case SequencesGenerator::draw(Choices& choices, const Contract& contract) const {
  Case c;
  const size_t kind = choices.weighted(kWeights);
  c.inputs = drawn_inputs(choices, model_->shapes, contract);
  if (kind == kThen || kind == kCallers) {
    const uint64_t calls = kind == kThen ? 1 + choices.below(kFurtherCallsMax) : choices.below(kFurtherCallsMax);
    for (uint64_t i = 0; i < calls; ++i) {
      c.then.push_back({drawn_inputs(choices, model_->shapes, contract), 1});
      if (choices.chance(1, 8)) c.then.back().times = 2 + static_cast<int>(choices.below(4));
    }
  }
  if (kind == kCallers) c.callers = 2 + static_cast<int>(choices.below(kFurtherCallersMax));
  if (kind == kMany) c.runs = choices.chance(1, 32) ? kVeryManyRuns : kManyRuns;
  if (kind == kConstants) c.constants = choices.below(2) == 0 ? CaseConstants::kUpdated : CaseConstants::kSwapped;
  return c;
}

}  // namespace aotifuzz
