#include "store/explanation_text.h"

#include <algorithm>
#include <sstream>

namespace aotifuzz {
namespace {

void print_one(const Explanation& one, std::ostream& out) {
  out << one.title << "   [" << one.pattern << "]\n";
  if (one.line) {
    out << "  line " << one.line << ": " << one.text << '\n';
    if (one.others > 0) out << "    and " << one.others << " of this kind with other names or numbers, not listed\n";
    if (one.times > 1) out << "    and " << one.times - 1 << (one.times == 2 ? " more line" : " more lines") << '\n';
  } else if (!one.text.empty()) {
    out << "  " << one.text << '\n';
  }
  out << "  meaning: " << one.meaning << "\n  at fault: " << one.culprit << '\n';
  for (const auto& [name, value] : one.facts) out << "  " << name << ": " << value << '\n';
  out << "  to change: " << one.change << '\n';
  if (!one.commands.empty()) out << "  next:\n";
  for (const std::string& command : one.commands) out << "    " << command << '\n';
}

}  // namespace

void print_explanations(const ExplainReport& report, std::ostream& out) {
  bool first = true;
  for (const Explanation& one : report.found) {
    if (!first) out << '\n';
    first = false;
    print_one(one, out);
  }
  if (!report.steps.empty()) {
    if (!first) out << '\n';
    out << "steps\n";
    for (const GuideStep& step : report.steps)
      out << "  " << step.name << ": " << (step.done ? "" : "not done: ") << step.result << '\n';
  }
  if (!report.conclusion.empty()) out << "conclusion\n";
  for (const std::string& line : report.conclusion) out << "  " << line << '\n';
  if (!report.minimal_case.empty()) {
    out << "the smallest input that does it\n";
    std::istringstream lines(report.minimal_case);
    for (std::string line; std::getline(lines, line);) out << "  " << line << '\n';
  }
  for (const std::string& note : report.notes) out << "note: " << note << '\n';
}

nlohmann::ordered_json explanations_json(const ExplainReport& report) {
  using nlohmann::ordered_json;
  ordered_json found = ordered_json::array();
  for (const Explanation& one : report.found) {
    ordered_json facts = ordered_json::array();
    for (const auto& [name, value] : one.facts) facts.push_back({{"name", name}, {"value", value}});
    found.push_back({{"pattern", one.pattern},
                     {"title", one.title},
                     {"line", one.line},
                     {"times", one.times},
                     {"others", one.others},
                     {"text", one.text},
                     {"meaning", one.meaning},
                     {"at_fault", one.culprit},
                     {"to_change", one.change},
                     {"facts", facts},
                     {"commands", one.commands}});
  }
  ordered_json steps = ordered_json::array();
  for (const GuideStep& step : report.steps)
    steps.push_back({{"step", step.name}, {"result", step.result}, {"done", step.done}});
  return {{"found", found},
          {"steps", steps},
          {"conclusion", report.conclusion},
          {"minimal_case", report.minimal_case},
          {"notes", report.notes},
          {"fault", report.fault}};
}

}  // namespace aotifuzz
