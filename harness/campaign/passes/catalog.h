#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/reducer_pass.h"

namespace aotifuzz {

struct PassEntry {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<ReducerPass> (*make)();
};

/// Every pass, in the order in which the reducer goes round them.
const std::vector<PassEntry>& pass_catalog();

std::vector<std::unique_ptr<ReducerPass>> make_passes();

}  // namespace aotifuzz
