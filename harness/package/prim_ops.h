#pragma once

#include "package/graph.h"

namespace aotifuzz {

/// Post-grad graphs hold ops of Python's `prims` library, which no C++ process knows. Those that an ATen op does
/// exactly become that op; the others stay, and the node that needs one cannot be run.
void replace_prims(Graph& graph);

}  // namespace aotifuzz
