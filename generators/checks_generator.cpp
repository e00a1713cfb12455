#include "generators/checks_generator.h"

#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {

Case ChecksGenerator::draw(Choices& choices, const Contract& contract) const {
  const bool tiny = choices.below(4) < 3;
  Case c = model_->shapes.make_case(tiny ? choose_tiny_sizes(choices, model_->shapes)
                                         : choose_sizes(choices, model_->shapes));
  choose_values(choices, contract, c);
  c.input_checks = true;
  return c;
}

}  // namespace aotifuzz
