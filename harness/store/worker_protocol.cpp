#include "store/worker_protocol.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "store/trace_json.h"

namespace aotifuzz {
namespace {

using nlohmann::json;

// Messages hold text that a package wrote, so bytes that are not UTF-8 are replaced, never refused.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

/// Reads fields of one JSON object and remembers the first that has the wrong type. Absent fields keep their default.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) fail("not an object");
  }

  bool ok() const { return error_.empty(); }
  tl::unexpected<ParseError> error() const { return parse_error(error_, where_); }

  template <class Int>
  void integer(const char* key, Int* out) {
    const json* value = find(key);
    if (!value) return;
    if (!value->is_number_integer()) return fail(std::string(key) + " is not an integer");
    if constexpr (std::is_unsigned_v<Int>) {
      if (!value->is_number_unsigned()) return fail(std::string(key) + " is negative");
      *out = value->get<Int>();
    } else {
      const auto wide = value->is_number_unsigned() ? saturate(value->get<uint64_t>()) : value->get<int64_t>();
      if (wide < std::numeric_limits<Int>::min() || wide > std::numeric_limits<Int>::max())
        return fail(std::string(key) + " is out of range");
      *out = static_cast<Int>(wide);
    }
  }
  void number(const char* key, double* out) {
    const json* value = find(key);
    if (!value || value->is_null()) return;
    if (!value->is_number()) return fail(std::string(key) + " is not a number");
    *out = value->get<double>();
  }
  void boolean(const char* key, bool* out) {
    const json* value = find(key);
    if (!value) return;
    if (!value->is_boolean()) return fail(std::string(key) + " is not a boolean");
    *out = value->get<bool>();
  }
  void string(const char* key, std::string* out) {
    const json* value = find(key);
    if (!value) return;
    if (!value->is_string()) return fail(std::string(key) + " is not a string");
    *out = value->get<std::string>();
  }
  void strings(const char* key, std::vector<std::string>* out) {
    const json* value = find(key);
    if (!value) return;
    if (!value->is_array()) return fail(std::string(key) + " is not a list");
    for (const json& item : *value) {
      if (!item.is_string()) return fail(std::string(key) + " holds something that is not a string");
      out->push_back(item.get<std::string>());
    }
  }
  const json* array(const char* key) {
    const json* value = find(key);
    if (value && !value->is_array()) {
      fail(std::string(key) + " is not a list");
      return nullptr;
    }
    return value;
  }
  const json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

 private:
  static int64_t saturate(uint64_t value) {
    return value > uint64_t{std::numeric_limits<int64_t>::max()} ? std::numeric_limits<int64_t>::max()
                                                                 : static_cast<int64_t>(value);
  }

  const json& object_;
  std::string where_;
  std::string error_;
};

template <class Enum>
std::optional<Enum> enum_from_name(std::string_view text, Enum last, std::string_view (*name)(Enum)) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  return std::nullopt;
}

json hello_json(const WorkerHello& hello) {
  return {{"pid", hello.pid},
          {"torch", hello.torch_version},
          {"cpu", hello.cpu_capability},
          {"device", hello.device},
          {"has_reference", hello.has_reference},
          {"oracles", hello.oracles},
          {"not_judged", hello.not_judged},
          {"start", hello.start}};
}

json verdict_json(const Verdict& verdict) {
  json out = {{"oracle", verdict.oracle}, {"status", verdict_status_name(verdict.status)}};
  if (verdict.cls) out["class"] = verdict_class_name(*verdict.cls);
  if (verdict.status == VerdictStatus::kFail) out["fault"] = verdict.fault;
  if (!verdict.reason.empty()) out["reason"] = verdict.reason;
  if (!verdict.signature.empty()) out["signature"] = verdict.signature;
  if (!verdict.measures.empty()) {
    json measures = json::array();
    for (const auto& [key, value] : verdict.measures) measures.push_back({key, value});
    out["measures"] = std::move(measures);
  }
  return out;
}

json report_json(const CaseReport& report) {
  json runs = json::array();
  for (const RunSummary& run : report.runs) {
    json one = {
        {"run", run.run}, {"outcome", outcome_kind_name(run.outcome.kind)}, {"stage", stage_name(run.outcome.stage)}};
    if (!run.outcome.message.empty()) one["message"] = run.outcome.message;
    if (std::isfinite(run.us)) one["us"] = run.us;
    runs.push_back(std::move(one));
  }
  json verdicts = json::array();
  for (const Verdict& verdict : report.verdicts) verdicts.push_back(verdict_json(verdict));
  json out = {{"id", report.id},
              {"reference_accepts", report.reference_accepts},
              {"runs", std::move(runs)},
              {"verdicts", std::move(verdicts)}};
  if (!report.trace.empty()) out["trace"] = trace_json(report.trace);
  return out;
}

Result<Verdict> parse_verdict(const json& object) {
  Fields fields(object, "report.verdicts");
  Verdict verdict;
  std::string status, cls;
  fields.string("oracle", &verdict.oracle);
  fields.string("status", &status);
  fields.string("class", &cls);
  fields.boolean("fault", &verdict.fault);
  fields.string("reason", &verdict.reason);
  fields.string("signature", &verdict.signature);
  if (const json* measures = fields.array("measures")) {
    for (const json& pair : *measures) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
        fields.fail("measures holds something that is not a pair of strings");
        break;
      }
      verdict.measures.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
    }
  }
  if (!fields.ok()) return fields.error();
  const auto parsed_status = enum_from_name(status, VerdictStatus::kMistrusted, verdict_status_name);
  if (!parsed_status) return parse_error("unknown verdict status \"" + status + "\"", "report.verdicts.status");
  verdict.status = *parsed_status;
  if (!cls.empty()) {
    verdict.cls = verdict_class_from_name(cls);
    if (!verdict.cls) return parse_error("unknown verdict class \"" + cls + "\"", "report.verdicts.class");
  }
  if (verdict.status == VerdictStatus::kFail && (!verdict.cls || verdict.signature.empty()))
    return parse_error("a failed verdict without class or signature", "report.verdicts");
  return verdict;
}

Result<RunSummary> parse_run(const json& object) {
  Fields fields(object, "report.runs");
  RunSummary run;
  std::string outcome, stage = std::string(stage_name(Stage::kIdle));
  fields.string("run", &run.run);
  fields.string("outcome", &outcome);
  fields.string("stage", &stage);
  fields.string("message", &run.outcome.message);
  fields.number("us", &run.us);
  if (!fields.ok()) return fields.error();
  const auto kind = enum_from_name(outcome, OutcomeKind::kOutOfMemory, outcome_kind_name);
  if (!kind) return parse_error("unknown outcome \"" + outcome + "\"", "report.runs.outcome");
  const auto parsed_stage = enum_from_name(stage, Stage::kTeardown, stage_name);
  if (!parsed_stage) return parse_error("unknown stage \"" + stage + "\"", "report.runs.stage");
  run.outcome.kind = *kind;
  run.outcome.stage = *parsed_stage;
  return run;
}

Result<CaseReport> parse_report(const json& object) {
  Fields fields(object, "report");
  CaseReport report;
  fields.integer("id", &report.id);
  fields.boolean("reference_accepts", &report.reference_accepts);
  if (const auto trace = object.find("trace"); trace != object.end()) {
    Result<std::vector<TraceCall>> parsed = parse_trace(*trace);
    if (!parsed) return tl::unexpected(parsed.error());
    report.trace = std::move(*parsed);
  }
  const json* runs = fields.array("runs");
  const json* verdicts = fields.array("verdicts");
  if (!fields.ok()) return fields.error();
  if (runs) {
    for (const json& item : *runs) {
      auto run = parse_run(item);
      if (!run) return tl::unexpected(run.error());
      report.runs.push_back(std::move(*run));
    }
  }
  if (verdicts) {
    for (const json& item : *verdicts) {
      auto verdict = parse_verdict(item);
      if (!verdict) return tl::unexpected(verdict.error());
      report.verdicts.push_back(std::move(*verdict));
    }
  }
  return report;
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Deeper than any message; refused before the recursive parser sees it, so that nesting cannot exhaust the stack.
constexpr int kDepthMax = 16;

bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthMax) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::string print_message(const WorkerMessage& message) {
  switch (message.kind) {
    case WorkerMessage::Kind::kHello:
      return dump({{"hello", hello_json(message.hello)}});
    case WorkerMessage::Kind::kReady:
      return dump({{"ready", message.pid}});
    case WorkerMessage::Kind::kReport:
      return dump({{"report", report_json(message.report)}});
    case WorkerMessage::Kind::kDied:
      return dump({{"died",
                    {{"pid", message.pid},
                     {"signal", message.signal},
                     {"status", message.status},
                     {"case", message.case_id},
                     {"device_error", message.device_error},
                     {"memory_fault", message.memory_fault}}}});
    case WorkerMessage::Kind::kFatal:
      return dump({{"fatal", {{"what", message.what}, {"where", message.where}, {"to_do", message.to_do}}}});
  }
  return "\n";
}

Result<WorkerMessage> parse_message(std::string_view line) {
  if (too_deep(line)) return parse_error("nested too deeply", "message");
  const json root = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || root.size() != 1) return parse_error("not a JSON object with one member", "message");
  const std::string key = root.begin().key();
  const json& body = root.begin().value();
  WorkerMessage message;
  if (key == "hello") {
    message.kind = WorkerMessage::Kind::kHello;
    Fields fields(body, "hello");
    fields.integer("pid", &message.hello.pid);
    fields.string("torch", &message.hello.torch_version);
    fields.string("cpu", &message.hello.cpu_capability);
    fields.string("device", &message.hello.device);
    fields.boolean("has_reference", &message.hello.has_reference);
    fields.strings("oracles", &message.hello.oracles);
    fields.strings("not_judged", &message.hello.not_judged);
    fields.strings("start", &message.hello.start);
    if (!fields.ok()) return fields.error();
  } else if (key == "ready") {
    message.kind = WorkerMessage::Kind::kReady;
    Fields fields(root, "message");
    fields.integer("ready", &message.pid);
    if (!fields.ok()) return fields.error();
    // The watchdog kills this pid: 0, -1 and 1 would hit a process group, everything, or init.
    if (message.pid <= 1) return parse_error("not a process id", "ready");
  } else if (key == "report") {
    message.kind = WorkerMessage::Kind::kReport;
    auto report = parse_report(body);
    if (!report) return tl::unexpected(report.error());
    message.report = std::move(*report);
  } else if (key == "died") {
    message.kind = WorkerMessage::Kind::kDied;
    Fields fields(body, "died");
    fields.integer("pid", &message.pid);
    fields.integer("signal", &message.signal);
    fields.integer("status", &message.status);
    fields.integer("case", &message.case_id);
    fields.string("device_error", &message.device_error);
    fields.boolean("memory_fault", &message.memory_fault);
    if (!fields.ok()) return fields.error();
  } else if (key == "fatal") {
    message.kind = WorkerMessage::Kind::kFatal;
    Fields fields(body, "fatal");
    fields.string("what", &message.what);
    fields.string("where", &message.where);
    fields.string("to_do", &message.to_do);
    if (!fields.ok()) return fields.error();
  } else {
    return parse_error("unknown message", "message");
  }
  return message;
}

std::string print_case_request(uint64_t id, std::string_view case_text, bool careful) {
  std::string out =
      "case " + std::to_string(id) + " " + std::to_string(case_text.size()) + (careful ? " careful\n" : "\n");
  out += case_text;
  return out;
}

Result<WorkerRequest> parse_request_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  WorkerRequest request;
  if (line == "quit") return request;
  if (line == "renew") {
    request.kind = WorkerRequest::Kind::kRenew;
    return request;
  }
  constexpr std::string_view kPrefix = "case ";
  if (line.substr(0, kPrefix.size()) != kPrefix) return parse_error("neither a case nor quit", "request");
  line.remove_prefix(kPrefix.size());
  constexpr std::string_view kCareful = " careful";
  if (line.ends_with(kCareful)) {
    request.careful = true;
    line.remove_suffix(kCareful.size());
  }
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return parse_error("a case without a length", "request");
  const auto id = parse_int(line.substr(0, space));
  const auto bytes = parse_int(line.substr(space + 1));
  constexpr int64_t kBytesMax = int64_t{64} << 20;
  if (!id || *id < 0) return parse_error("the case number is not a number", "request");
  if (!bytes || *bytes < 0 || *bytes > kBytesMax)
    return parse_error("the length is not between 0 and 64 MiB", "request");
  request.kind = WorkerRequest::Kind::kCase;
  request.id = static_cast<uint64_t>(*id);
  request.bytes = static_cast<size_t>(*bytes);
  return request;
}

}  // namespace aotifuzz
