#include "generators/mixed_generator.h"

namespace aotifuzz {

MixedGenerator::MixedGenerator(std::vector<Part> parts) : parts_(std::move(parts)) {
  for (const Part& part : parts_) weights_.push_back(part.weight);
}

Case MixedGenerator::draw(Choices& choices, const Contract& contract) const {
  return parts_[choices.weighted(weights_)].generator->draw(choices, contract);
}

}  // namespace aotifuzz
