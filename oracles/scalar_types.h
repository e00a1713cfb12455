#pragma once

#include <c10/core/ScalarType.h>

#include "core/dtype.h"

namespace aotifuzz {

/// Export schema code <-> c10 type, as the oracles need it. Undefined / kUnknown for what the other side lacks.
c10::ScalarType scalar_type_of(Dtype dtype);
Dtype dtype_of(c10::ScalarType type);

/// The type that a referee run computes in: float64 for real floating types, complex128 for complex, itself for the
/// rest.
c10::ScalarType referee_type(c10::ScalarType type);

}  // namespace aotifuzz
