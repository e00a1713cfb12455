#pragma once

#include "core/dtype.h"
#include "core/value_recipe.h"

namespace aotifuzz {

/// One element as a number: integers and bool exactly (u64 above INT64_MAX saturates), every floating type as the
/// double that it is, complex types by their real part. The reverse of element_convert.h. `element` may lie at any
/// address.
Number decode_element(Dtype dtype, const void* element);

}  // namespace aotifuzz
