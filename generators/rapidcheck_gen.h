#pragma once

#include <rapidcheck/Gen.h>
#include <rapidcheck/shrinkable/Create.h>

#include "core/generator.h"
#include "generators/rapidcheck_choices.h"

namespace aotifuzz {

/// A generator of ours as a RapidCheck generator, for properties over cases. It does not shrink: reducing a case is
/// campaign/reducer's work. `generator` and `contract` must outlive what is returned.
inline rc::Gen<Case> cases_of(const Generator& generator, const Contract& contract) {
  return rc::Gen<Case>([&generator, &contract](const rc::Random& random, int size) {
    RapidCheckChoices choices = RapidCheckChoices::from(random, size);
    return rc::shrinkable::just(generator.draw(choices, contract));
  });
}

}  // namespace aotifuzz
