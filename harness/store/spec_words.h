#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// The words of a spec's lines (store/op_spec.h), looked at one by one.
namespace aotifuzz {

/// A letter or underscore, then those and digits.
bool is_name(std::string_view text);
std::optional<int64_t> integer_of(std::string_view text);
std::string_view trimmed(std::string_view text);
/// Splits at `separator` where no bracket or quotation mark is open.
std::vector<std::string_view> split(std::string_view text, char separator);
/// Where a comment begins that is no part of a text.
size_t comment_begin(std::string_view line);
/// + - *
bool is_sign(char c);
/// "B*T", which is none of the forms with one symbol.
bool multiplies_symbols(std::string_view text);
/// Of what stands behind SYMBOL>=: then it is no bound.
bool holds_a_name_or_comparison(std::string_view text);
/// Of what stands in [...]: numbers with a point, true, false, texts; not sizes.
bool holds_literals(std::string_view text);

}  // namespace aotifuzz
