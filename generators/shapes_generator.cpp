#include "generators/shapes_generator.h"

#include "generators/layouts.h"
#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {

Case ShapesGenerator::draw(Choices& choices, const Contract& contract) const {
  Case c = model_->shapes.make_case(choose_sizes(choices, model_->shapes));
  choose_values(choices, contract, c);
  for (CaseInput& input : c.inputs) choose_placement(choices, input);
  return c;
}

}  // namespace aotifuzz
