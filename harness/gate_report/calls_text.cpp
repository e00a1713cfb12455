#include "gate_report/calls_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace aotifuzz {
namespace {

/// Why `call` was not used; "" = it was.
std::string reason_of(const ProgramCall& call, const std::vector<OperatorVerdict>& verdicts) {
  const auto verdict =
      std::find_if(verdicts.begin(), verdicts.end(), [&](const OperatorVerdict& v) { return v.name == call.op; });
  if (verdict == verdicts.end()) return "its operator is not judged here";
  if (call.line.empty()) return call.why_not;
  if (!verdict->calls_not_used.empty()) return verdict->calls_not_used.front();
  if (verdict->calls == 0) return "the line of the spec is used";
  return "";
}

std::string plural(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string calls_spec(const std::vector<ProgramCalls>& programs) {
  std::set<std::string> said;
  std::string out;
  for (const ProgramCalls& program : programs)
    for (const ProgramCall& call : program.calls)
      if (!call.line.empty() && said.insert(call.line).second) out += call.line + "\n";
  return out;
}

std::string calls_text(const std::vector<ProgramCalls>& programs, const std::vector<OperatorVerdict>& verdicts) {
  std::string out;
  std::set<std::string> called;
  for (const ProgramCalls& program : programs) {
    std::map<std::string, std::vector<std::string>> unused;  // by reason
    std::set<std::string> used;
    size_t count = 0;
    for (const ProgramCall& call : program.calls) {
      called.insert(call.op);
      if (const std::string reason = reason_of(call, verdicts); !reason.empty()) {
        unused[reason].push_back(call.op + " (" + call.node + ")");
        continue;
      }
      ++count;
      used.insert(call.op);
    }
    out += fmt::format("arguments of {} of {} are from {}\n", plural(count, "call"), plural(used.size(), "operator"),
                       relative_path(program.package));
    for (const auto& [reason, calls] : unused)
      out += fmt::format("  not used, {}: {}\n", plural(calls.size(), "call"), fmt::join(calls, ", "))
                 .append("    " + reason + "\n");
  }
  const auto uncalled = static_cast<size_t>(
      std::count_if(verdicts.begin(), verdicts.end(), [&](const OperatorVerdict& v) { return !called.count(v.name); }));
  if (!programs.empty() && uncalled > 0)
    out += fmt::format("{} not called there: judged as without --from\n", plural(uncalled, "operator"));
  return out;
}

nlohmann::ordered_json calls_json(const std::vector<ProgramCalls>& programs,
                                  const std::vector<OperatorVerdict>& verdicts) {
  auto out = nlohmann::ordered_json::array();
  for (const ProgramCalls& program : programs)
    for (const ProgramCall& call : program.calls)
      out.push_back({{"package", program.package},
                     {"operator", call.op},
                     {"node", call.node},
                     {"arguments", call.line},
                     {"not_used", reason_of(call, verdicts)}});
  return out;
}

}  // namespace aotifuzz
