#include "campaign/duration_text.h"

#include <fmt/format.h>

#include <charconv>

namespace aotifuzz {

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr double kYear = 366.0 * 24 * 3600 * 1000;
  if (text.empty()) return std::nullopt;
  double total = 0;
  bool bare = true;  // only a number that stands alone may go without a unit
  while (!text.empty()) {
    double amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc() || !(amount >= 0)) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    size_t unit = 0;
    while (unit < text.size() && text[unit] >= 'a' && text[unit] <= 'z') ++unit;
    const std::string_view name = text.substr(0, unit);
    text.remove_prefix(unit);
    double scale = 0;
    if (name == "ms")
      scale = 1;
    else if (name == "s" || (name.empty() && text.empty() && bare))
      scale = 1000;
    else if (name == "m" || name == "min")
      scale = 60'000;
    else if (name == "h")
      scale = 3'600'000;
    else if (name == "d")
      scale = 24.0 * 3'600'000;
    else
      return std::nullopt;
    bare = false;
    total += amount * scale;
    if (total > kYear) return std::nullopt;
  }
  return std::chrono::milliseconds(static_cast<int64_t>(total));
}

std::string print_duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{:.1f} s", seconds);
}

}  // namespace aotifuzz
