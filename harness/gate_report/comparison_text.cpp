#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "gate_report/gate_comparison.h"
#include "gate_report/gate_text.h"

namespace aotifuzz {
namespace {

using nlohmann::ordered_json;

std::string two_lines(const std::string& before, const std::string& after) {
  return fmt::format("    - {}\n    + {}\n", before, after);
}

std::string value_text(const GateValue& value) {
  return value.meta == value.kernel ? value.meta : "meta " + value.meta + ", kernel " + value.kernel;
}

std::string change_text(const OperatorChange& change) {
  std::string out = fmt::format("{}: {}\n", change_name(change.kind), change.name);
  if (change.schema_before != change.schema_after)
    out += "  schema\n" + two_lines(change.schema_before.empty() ? "(none)" : change.schema_before,
                                    change.schema_after.empty() ? "(none)" : change.schema_after);
  if (!change.expression_before.empty())
    out += "  sizes\n" + two_lines(change.expression_before, change.expression_after);
  for (const std::string& guard : change.guards_gone) out += "  condition gone: " + guard + "\n";
  for (const std::string& guard : change.guards_new) out += "  condition new: " + guard + "\n";
  if (change.differing > 0) {
    out += fmt::format("  {} of {} points differ, first {}\n", change.differing, change.points, change.first_sizes);
    out += two_lines(value_text(change.first_before), value_text(change.first_after));
  } else if (change.points > 0) {
    out += fmt::format("  the same at all {} points\n", change.points);
  }
  for (const std::string& kind : change.fixed) out += "  fixed: " + kind + "\n";
  if (change.broken.empty()) return out;
  OperatorVerdict verdict;
  verdict.name = "  new in " + change.name;
  verdict.faults = change.broken;
  return out + faults_text(verdict);
}

}  // namespace

std::string comparison_text(const GateComparison& comparison, bool all) {
  std::string out;
  size_t broken = 0, fixed = 0, before = 0;
  for (const OperatorChange& change : comparison.changes) {
    out += change_text(change) + "\n";
    broken += change.broken.size();
    fixed += change.fixed.size();
  }
  for (const OperatorVerdict& verdict : comparison.verdicts) before += verdict.faults.size();
  before -= broken;
  if (all) out += "the new library as a whole:\n\n" + gate_text(comparison.verdicts) + "\n";
  return out +
         fmt::format("{} operators in both, {} points compared: {} changed; faults: {} new, {} fixed, {} as before\n",
                     comparison.operators, comparison.points, comparison.changes.size(), broken, fixed, before);
}

std::string comparison_json(const std::string& base, const std::string& library, const GateComparison& comparison,
                            int exit_code) {
  auto list = ordered_json::array();
  for (const OperatorChange& change : comparison.changes) {
    auto broken = ordered_json::array();
    for (const GateFault& fault : change.broken)
      broken.push_back({{"kind", fault.kind},
                        {"message", fault.message},
                        {"file", relative_path(fault.where.file)},
                        {"line", fault.where.line},
                        {"sizes", fault.sizes}});
    list.push_back({{"name", change.name},
                    {"change", change_name(change.kind)},
                    {"schema_before", change.schema_before},
                    {"schema_after", change.schema_after},
                    {"sizes_before", change.expression_before},
                    {"sizes_after", change.expression_after},
                    {"conditions_gone", change.guards_gone},
                    {"conditions_new", change.guards_new},
                    {"points", change.points},
                    {"differing", change.differing},
                    {"first_sizes", change.first_sizes},
                    {"first_before", value_text(change.first_before)},
                    {"first_after", value_text(change.first_after)},
                    {"broken", std::move(broken)},
                    {"fixed", change.fixed}});
  }
  const ordered_json root = {{"base", base},
                             {"library", library},
                             {"changes", std::move(list)},
                             {"operators", comparison.operators},
                             {"points", comparison.points},
                             {"exit_code", exit_code}};
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace aotifuzz
