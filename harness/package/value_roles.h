#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/contract.h"
#include "package/graph.h"

namespace aotifuzz {

/// What the graph's ops say about one user input.
struct InputUse {
  ValueRole role;
  bool mutated = false;  ///< an in-place op writes it, directly or through a view
};

/// Follows every user input through views, casts and copies to the ops that consume it. Sub-graphs of higher-order ops
/// are entered. `to_dimensions` rewrites a size expression over export's symbols into one over dimension names.
std::map<std::string, InputUse> learn_input_uses(const Program& program,
                                                 const std::function<Expr(const Expr&)>& to_dimensions);

}  // namespace aotifuzz
