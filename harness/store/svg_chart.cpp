#include "store/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/utf8_text.h"

namespace aotifuzz {
namespace {

constexpr double kWidth = 420, kHeight = 120, kLeft = 4, kTop = 22, kBottom = 18;

std::string time_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string svg_chart(const std::string& title, const std::vector<std::pair<double, double>>& points,
                      const std::string& unit) {
  if (points.size() < 2) return "";
  double x_max = 0, y_max = 0;
  for (const auto& [x, y] : points) {
    x_max = std::max(x_max, x);
    y_max = std::max(y_max, y);
  }
  const double inner = kHeight - kTop - kBottom;
  std::string line;
  for (const auto& [x, y] : points)
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ",
                        kLeft + (x_max > 0 ? x / x_max : 0) * (kWidth - 2 * kLeft),
                        kTop + (1 - (y_max > 0 ? y / y_max : 0)) * inner);
  const std::string name = xml_escaped(clean_utf8(title));
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">"
      "<text x=\"{3}\" y=\"14\">{2}: {4:.0f}{5} at most</text>"
      "<line x1=\"{3}\" y1=\"{6}\" x2=\"{7}\" y2=\"{6}\"/>"
      "<polyline points=\"{8}\"/>"
      "<text x=\"{3}\" y=\"{9}\">0</text><text class=\"end\" x=\"{7}\" y=\"{9}\">{10}</text></svg>\n",
      kWidth, kHeight, name, kLeft, y_max, unit.empty() ? "" : " " + xml_escaped(clean_utf8(unit)), kHeight - kBottom,
      kWidth - kLeft, line, kHeight - 5, time_text(x_max));
}

}  // namespace aotifuzz
