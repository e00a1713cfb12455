#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "package/graph.h"
#include "worker/flat_program.h"

namespace aotifuzz {

/// A graph made ready to run: operators looked up, arguments in schema order with defaults filled in, names gone.
struct CompiledGraph {
  std::shared_ptr<Block> block;
  std::map<std::string, int> slots;  ///< of the top graph's values, for inputs, outputs and watched values
  int ids = 0;                       ///< instructions have ids 0..ids-1, those of sub-graphs included
  /// Nodes that cannot be run, one line each: "node foo: torch.ops.my.foo.default: no such operator (load it with
  /// --ops)". Not empty: the block must not be run.
  std::vector<std::string> unsupported;
};

/// Never throws for what a program contains.
CompiledGraph compile_graph(const Graph& graph);

}  // namespace aotifuzz
