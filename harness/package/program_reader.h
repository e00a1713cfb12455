#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "package/graph.h"
#include "package/json_view.h"

namespace aotifuzz {

/// Reads `models/NAME.json`: ExportedProgram schema major 8, minor >= 17. Weights are left empty. A union arm that this
/// reader does not know becomes Argument::Kind::kUnknown, so that only the node which needs it cannot run; a wrong type
/// or a missing key anywhere is an error that names the path in the document.
Result<Program> parse_program(std::string_view json_text, const std::string& model_name);

/// One graph of the same schema, in another document. Throws JsonView::Failure.
Graph read_graph(const JsonView& view);

/// Reads `NAME_weights_config.json` or `NAME_constants_config.json`. `folder` is the archive folder of the raw members,
/// root included ("labeq/data/weights/"). Custom objects are left out.
Result<std::vector<WeightInfo>> parse_weights_config(std::string_view json_text, const std::string& folder);

}  // namespace aotifuzz
