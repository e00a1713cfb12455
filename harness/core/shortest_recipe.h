#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/value_recipe.h"

namespace aotifuzz {

/// The shortest recipe for these elements (dense, in logical order), bit for bit: const() or a short list(), else a
/// file() of that name, loaded.
ValueRecipe shortest_recipe(std::string name, Dtype dtype, std::vector<uint8_t> bytes);

}  // namespace aotifuzz
