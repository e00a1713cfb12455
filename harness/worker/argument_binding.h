#pragma once

#include <ATen/core/function_schema.h>

#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "package/graph.h"
#include "worker/flat_program.h"

namespace aotifuzz {

/// Slot of a named value of the graph being compiled; nullopt for a name that nothing defines.
using SlotOf = std::function<std::optional<int>(const std::string& name)>;

/// An argument of a node as the schema's parameter wants it. Constants become IValues here, once; a number where the
/// schema says Tensor becomes a wrapped number, as Python's argument parser makes it. The error says what does not fit.
tl::expected<Operand, std::string> bind_argument(const Argument& argument, const c10::Argument& parameter,
                                                 const SlotOf& slot_of);

/// An argument of something without a schema: a higher-order op, a function on numbers, a graph output.
tl::expected<Operand, std::string> bind_free(const Argument& argument, const SlotOf& slot_of);

}  // namespace aotifuzz
