#include "store/ci_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "store/utf8_text.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

// What no test takes; JUnit's schema has no exponents and no "inf".
constexpr double kSecondsMax = 1e9;

std::string detail_of(const CiItem& item) { return cut_utf8(clean_utf8(item.detail), kCiDetailMax); }

/// One line, whatever it was.
std::string line_of(std::string_view text) {
  std::string line = clean_utf8(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return cut_utf8(std::move(line), kCiLineMax);
}

bool counts(const CiItem& item) {
  return item.status == CiStatus::kFailed && item.level == CiLevel::kError && item.excuse.empty();
}
bool is_skipped(const CiItem& item) {
  return item.status == CiStatus::kSkipped || (item.status == CiStatus::kFailed && !item.excuse.empty());
}

// ---------------------------------------------------------------------------------------------------------- JUnit

std::string xml_text(std::string_view clean) {
  std::string out;
  for (const char c : clean) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':  // "]]>" may not stand in text
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\r':  // parsers make line feeds of bare ones
        out += "&#13;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, xml_text(line_of(value)));
}

double seconds_of(const CiItem& item) {
  return item.seconds >= 0 ? std::min(item.seconds, kSecondsMax) : 0;  // not a number is not >= 0
}

std::string where(const CiItem& item) {
  if (item.file.empty()) return "";
  return item.line > 0 ? fmt::format("{}:{}", item.file, item.line) : item.file;
}

/// Text of an element below a testcase: where, then the detail.
std::string body(const CiItem& item) {
  std::string text = line_of(where(item));
  if (!text.empty()) text += '\n';
  return xml_text(text + detail_of(item));
}

std::string testcase(const CiItem& item) {
  std::string out = "    <testcase" + attribute("name", item.name) + attribute("classname", item.suite) +
                    fmt::format(" time=\"{:.3f}\"", seconds_of(item));
  if (counts(item))
    return out + ">\n      <failure" + attribute("type", item.rule) + attribute("message", item.message) + ">" +
           body(item) + "</failure>\n    </testcase>\n";
  if (is_skipped(item))
    return out + ">\n      <skipped" + attribute("message", item.excuse.empty() ? item.message : item.excuse) +
           "/>\n    </testcase>\n";
  if (item.status == CiStatus::kFailed)
    return out + ">\n      <system-out>" + xml_text(line_of(item.rule + ": " + item.message)) + "\n" + body(item) +
           "</system-out>\n    </testcase>\n";
  return out + "/>\n";
}

/// Attributes that count what `items` hold.
std::string totals(const std::vector<const CiItem*>& items, bool with_skipped) {
  size_t failures = 0, skipped = 0;
  double seconds = 0;
  for (const CiItem* item : items) {
    failures += counts(*item);
    skipped += is_skipped(*item);
    seconds += seconds_of(*item);
  }
  std::string out = fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"0\"", items.size(), failures);
  if (with_skipped) out += fmt::format(" skipped=\"{}\"", skipped);
  return out + fmt::format(" time=\"{:.3f}\"", std::min(seconds, kSecondsMax));
}

// ---------------------------------------------------------------------------------------------------------- SARIF

/// A path as a URI reference. A colon would make a scheme of what is before it, so it is encoded too.
std::string uri_of(std::string_view path) {
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string_view level_name(CiLevel level) {
  return level == CiLevel::kError ? "error" : level == CiLevel::kWarning ? "warning" : "note";
}

ordered_json location(const CiItem& item) {
  ordered_json out = ordered_json::object();
  if (!item.file.empty()) {
    out["physicalLocation"]["artifactLocation"]["uri"] = uri_of(item.file);
    if (item.line > 0) out["physicalLocation"]["region"]["startLine"] = item.line;
  }
  out["logicalLocations"] = ordered_json::array(
      {{{"name", line_of(item.name)}, {"fullyQualifiedName", line_of(item.suite + "/" + item.name)}}});
  return out;
}

std::string sarif_message(const CiItem& item) {
  const std::string detail = detail_of(item);
  return line_of(item.message) + (detail.empty() ? "" : "\n\n" + detail);
}

ordered_json result(const CiItem& item, const std::map<std::string, size_t>& rule_index) {
  ordered_json out = {{"ruleId", line_of(item.rule)},
                      {"level", level_name(item.level)},
                      {"message", {{"text", sarif_message(item)}}},
                      {"locations", ordered_json::array({location(item)})}};
  if (const auto index = rule_index.find(item.rule); index != rule_index.end()) out["ruleIndex"] = index->second;
  if (!item.fingerprint.empty()) out["partialFingerprints"]["aotifuzz/v1"] = line_of(item.fingerprint);
  if (!item.excuse.empty())
    out["suppressions"] = ordered_json::array({{{"kind", "external"}, {"justification", line_of(item.excuse)}}});
  return out;
}

ordered_json rule_json(const CiRule& rule) {
  ordered_json out = {{"id", line_of(rule.id)}, {"shortDescription", {{"text", line_of(rule.summary)}}}};
  if (!rule.help.empty()) out["help"]["text"] = cut_utf8(clean_utf8(rule.help), kCiDetailMax);
  return out;
}

// ---------------------------------------------------------------------------------------------------------- GitHub

/// As the runner undoes it: property values also hide what ends them.
std::string command_text(std::string_view clean, bool property) {
  std::string out;
  for (const char c : clean) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string annotation(const CiItem& item) {
  const std::string_view command = item.level == CiLevel::kNote ? "notice" : level_name(item.level);
  std::string out = fmt::format("::{} ", command);
  if (!item.file.empty()) {
    out += "file=" + command_text(line_of(item.file), true) + ",";
    if (item.line > 0) out += fmt::format("line={},", item.line);
  }
  const std::string detail = detail_of(item);
  return out + "title=" + command_text(line_of(item.rule + " in " + item.suite), true) +
         "::" + command_text(line_of(item.name + ": " + item.message) + (detail.empty() ? "" : "\n" + detail), false) +
         "\n";
}

}  // namespace

std::string junit_xml(const CiReport& report) {
  std::vector<const CiItem*> all;
  std::vector<std::string> order;
  std::map<std::string, std::vector<const CiItem*>> suites;
  for (const CiItem& item : report.items) {
    all.push_back(&item);
    if (!suites.contains(item.suite)) order.push_back(item.suite);
    suites[item.suite].push_back(&item);
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "aotifuzz") +
                    totals(all, false) + ">\n";
  for (const std::string& suite : order) {
    out += "  <testsuite" + attribute("name", suite) + totals(suites[suite], true) + ">\n";
    for (const CiItem* item : suites[suite]) out += testcase(*item);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

std::string sarif_json(const CiReport& report) {
  ordered_json rules = ordered_json::array(), results = ordered_json::array(), skipped = ordered_json::array();
  std::map<std::string, size_t> rule_index;
  for (const CiRule& rule : report.rules)
    if (rule_index.emplace(rule.id, rules.size()).second) rules.push_back(rule_json(rule));
  for (const CiItem& item : report.items) {
    if (item.status == CiStatus::kFailed)
      results.push_back(result(item, rule_index));
    else if (item.status == CiStatus::kSkipped)
      skipped.push_back({{"level", "note"},
                         {"message", {{"text", "skipped: " + sarif_message(item)}}},
                         {"locations", ordered_json::array({location(item)})}});
  }
  ordered_json run;
  run["tool"]["driver"] = {
      {"name", "aotifuzz"}, {"version", line_of(report.tool_version)}, {"rules", std::move(rules)}};
  run["invocations"] =
      ordered_json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", std::move(skipped)}}});
  run["results"] = std::move(results);
  const ordered_json root = {
      {"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", ordered_json::array({std::move(run)})}};
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string github_annotations(const CiReport& report) {
  std::string out;
  for (const CiItem& item : report.items)
    if (item.status == CiStatus::kFailed && item.excuse.empty()) out += annotation(item);
  return out;
}

}  // namespace aotifuzz
