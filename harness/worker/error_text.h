#pragma once

#include <string>
#include <string_view>

namespace aotifuzz {

/// What an error says, fit for signatures: the first line that says something, without addresses, torch's source
/// positions ("(... at ../file.cpp:123)", "file.cpp:123: ") and "Error: " prefixes, at most 300 bytes.
std::string clean_error(std::string_view text);

/// True when the text is about memory that could not be had: then the outcome is out of memory, not a refusal.
bool is_out_of_memory(std::string_view text);

}  // namespace aotifuzz
