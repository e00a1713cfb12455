#pragma once

#include <string>
#include <utility>
#include <vector>

namespace aotifuzz {

/// A line chart as inline SVG: well-formed XML, no script, colours of the page's CSS (class "chart"). Values from 0 up;
/// less than two points give "". `unit` is said beside the largest value.
std::string svg_chart(const std::string& title, const std::vector<std::pair<double, double>>& seconds_and_values,
                      const std::string& unit);

}  // namespace aotifuzz
