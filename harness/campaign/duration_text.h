#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace aotifuzz {

/// "90", "20s", "10m", "8h", "1h30m", "500ms"; a bare number is seconds. None for anything else, or for more than a
/// year.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

std::string print_duration(double seconds);  ///< "2 h 05 min", "3 min 20 s", "12.3 s"

}  // namespace aotifuzz
