#pragma once

#include <string_view>

#include "core/error.h"
#include "core/expr.h"

namespace aotifuzz {

/// Parses sympy srepr text, as export stores sizes and strides:
///   Mul(Integer(4), Symbol('s27', positive=True, integer=True))
/// Functions without an integer meaning become opaque parts. Malformed, too deep or too long text is an error.
Result<Expr> parse_srepr(std::string_view text);

}  // namespace aotifuzz
