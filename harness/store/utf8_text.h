#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace aotifuzz {

/// `text` as UTF-8 that every XML 1.0 parser takes: bytes that are no UTF-8 (overlong forms and surrogates included),
/// control characters other than tab, line feed and carriage return, U+FFFE and U+FFFF each become U+FFFD.
std::string clean_utf8(std::string_view text);

/// At most `bytes_max` bytes of UTF-8 text, cut between characters; what was cut is counted at the end
/// (" [12 more bytes]", which comes on top).
std::string cut_utf8(std::string text, size_t bytes_max);

}  // namespace aotifuzz
