#pragma once

#include "package/graph.h"

namespace aotifuzz {

/// Post-grad graphs hold ops of Python's `prims` library, which no C++ process knows. Those that an ATen op does
/// exactly, only with other names of arguments, become that op here. Pack writes others as ATen ops already
/// (prims_as_aten.py); what is left cannot be run.
void replace_prims(Graph& graph);

}  // namespace aotifuzz
