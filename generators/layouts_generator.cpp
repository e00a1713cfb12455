#include "generators/layouts_generator.h"

#include "core/check.h"

namespace aotifuzz {
namespace {

// In the order of Gap::Kind: sizes, layouts, overlaps, dtypes, zero tensor, rank, scalars.
constexpr GapTable::KindWeights kWeights = {0, 5, 3, 0, 0, 0, 0};

}  // namespace

bool LayoutsGenerator::applies(const CaseModel& model) { return model.gaps.has_any(kWeights); }

Case LayoutsGenerator::draw(Choices& choices, const Contract&) const {
  AOTIFUZZ_CHECK(applies(*model_)) << name() << " has no way to leave this contract";
  return model_->gaps.draw(choices, model_->gaps.pick(choices, kWeights), model_->shapes);
}

}  // namespace aotifuzz
