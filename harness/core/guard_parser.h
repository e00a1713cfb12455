#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/expr.h"

namespace aotifuzz {

/// Name of the flat user input that an access path means: L['a'][0]['k'].b is {"a", "0", "k", "b"}. nullopt: none.
using InputNamer = std::function<std::optional<std::string>(const std::vector<std::string>& path)>;

/// Parses the Python text of a guard ("(L['a'][0].size()[0] % 100) == 0"), of a key of range_constraints ("2*s81 + 1")
/// or of Expr::text(). `L[...]` paths with .size()[d], .stride()[d], .storage_offset() become the symbols
/// "a_0.size(0)", "a_0.stride(0)", "a_0.offset()"; a bare path becomes the input's name. What is not integer arithmetic
/// over those becomes an opaque part; text that is not an expression at all is an error. Chained comparisons are split.
Result<Expr> parse_guard(std::string_view text, const InputNamer& namer);

/// The same without inputs: every L[...] path is opaque.
Result<Expr> parse_size_text(std::string_view text);

}  // namespace aotifuzz
