#include "generators/special_generator.h"

#include "generators/size_chooser.h"
#include "generators/value_chooser.h"

namespace aotifuzz {

bool SpecialGenerator::applies(const CaseModel& model) { return has_special_values(model.shapes.contract()); }

Case SpecialGenerator::draw(Choices& choices, const Contract& contract) const {
  Case c = model_->shapes.make_case(choose_sizes(choices, model_->shapes));
  choose_special_values(choices, contract, c);
  return c;
}

}  // namespace aotifuzz
