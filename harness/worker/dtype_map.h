#pragma once

#include <c10/core/ScalarType.h>

#include <optional>

#include "core/dtype.h"

namespace aotifuzz {

/// The one place where the export schema's dtype codes meet c10's. kUnknown gives Undefined.
c10::ScalarType to_scalar_type(Dtype dtype);
/// nullopt for types that the schema does not have (quantised, sub-byte).
std::optional<Dtype> from_scalar_type(c10::ScalarType type);

}  // namespace aotifuzz
