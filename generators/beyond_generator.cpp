#include "generators/beyond_generator.h"

#include "core/check.h"

namespace aotifuzz {
namespace {

// In the order of Gap::Kind: sizes, layouts, overlaps, dtypes, zero tensor, rank, scalars.
constexpr GapTable::KindWeights kWeights = {8, 5, 3, 3, 1, 1, 1};

}  // namespace

bool BeyondGenerator::applies(const CaseModel& model) { return model.gaps.has_any(kWeights); }

Case BeyondGenerator::draw(Choices& choices, const Contract&) const {
  AOTIFUZZ_CHECK(applies(*model_)) << name() << " has no way to leave this contract";
  return model_->gaps.draw(choices, model_->gaps.pick(choices, kWeights), model_->shapes);
}

}  // namespace aotifuzz
