#include "store/gate_record.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace aotifuzz {

using nlohmann::json;

void to_json(json& out, const GateFrame& frame) { out = json::array({frame.library, frame.offset, frame.symbol}); }
void from_json(const json& in, GateFrame& frame) {
  frame.library = in.at(0);
  frame.offset = in.at(1);
  frame.symbol = in.at(2);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GateFinding, kind, message, sizes, layout, arguments, expected, actual,
                                                change, output, weight, precondition, frames, file, line, function)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GateValue, meta, kernel)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GateOperator, name, schema, not_judged, drawn_by_default, arguments,
                                                findings, notes, expressions, guards, values, mined, points, refused,
                                                seconds, begun, ended, calls, calls_not_used)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(GateLibrary, path, operators, load_seconds)

namespace {

void keep_first(std::string* kept, std::string&& part) {
  if (kept->empty()) *kept = std::move(part);
}

template <class T>
void append(std::vector<T>* all, std::vector<T>&& part) {
  all->insert(all->end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

}  // namespace

void GateOperator::merge(GateOperator&& part) {
  keep_first(&schema, std::move(part.schema));
  keep_first(&not_judged, std::move(part.not_judged));
  // A process that takes over says its line again.
  if (!part.arguments.empty() && ("\n" + arguments + "\n").find("\n" + part.arguments + "\n") == std::string::npos)
    arguments += (arguments.empty() ? "" : "\n") + part.arguments;
  drawn_by_default |= part.drawn_by_default;
  append(&findings, std::move(part.findings));
  for (std::string& note : part.notes)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  for (std::string& guard : part.guards)
    if (std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(std::move(guard));
  expressions.merge(part.expressions);
  values.merge(part.values);
  append(&mined, std::move(part.mined));
  points += part.points;
  refused += part.refused;
  seconds += part.seconds;
  begun += part.begun;
  ended += part.ended;
  calls += part.calls;
  append(&calls_not_used, std::move(part.calls_not_used));
}

std::string print_gate_message(const GateMessage& message) {
  json root;
  switch (message.kind) {
    case GateMessage::Kind::kLibrary:
      root["library"] = message.library;
      break;
    case GateMessage::Kind::kOperator:
      root["operator"] = message.op;
      break;
    case GateMessage::Kind::kDone:
      root["done"] = true;
      break;
    case GateMessage::Kind::kFatal:
      root["fatal"] = {{"what", message.what}, {"where", message.where}, {"to_do", message.to_do}};
      break;
  }
  return root.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<GateMessage> parse_gate_message(std::string_view line) {
  const json root = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return parse_error("not a JSON object", "a line of the gate's worker");
  GateMessage message;
  try {
    if (root.contains("library")) {
      message.kind = GateMessage::Kind::kLibrary;
      message.library = root["library"];
    } else if (root.contains("operator")) {
      message.kind = GateMessage::Kind::kOperator;
      message.op = root["operator"];
    } else if (root.contains("fatal")) {
      message.kind = GateMessage::Kind::kFatal;
      const json& fatal = root["fatal"];
      message.what = fatal.value("what", "");
      message.where = fatal.value("where", "");
      message.to_do = fatal.value("to_do", "");
    } else if (!root.contains("done")) {
      return parse_error("none of library, operator, done, fatal", "a line of the gate's worker");
    }
  } catch (const json::exception& error) {
    return parse_error(error.what(), "a line of the gate's worker");
  }
  return message;
}

}  // namespace aotifuzz
