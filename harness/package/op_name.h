#pragma once

#include <string>
#include <string_view>

#include "package/graph.h"

namespace aotifuzz {

/// Target without "torch.ops.": "aten.add.Tensor".
std::string_view short_target(std::string_view target);
/// Namespace and name without overload and without the underscore of in-place variants: "aten.add_.Tensor" ->
/// "aten.add".
std::string_view op_base(std::string_view target);
/// "aten.add_.Tensor" -> true. Names that only begin with underscores are not in-place.
bool is_in_place_name(std::string_view target);
/// "aten.max.dim" -> "dim"; "default" for the unnamed overload; "" when the target has no overload part.
std::string_view op_overload(std::string_view target);

/// The op of `graph` that makes `value`, as short_target has it; "" for an input.
std::string op_that_makes(const Graph& graph, const std::string& value);

}  // namespace aotifuzz
