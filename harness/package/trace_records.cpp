#include "package/trace_records.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/error.h"

namespace aotifuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Kind = TraceRecord::Kind;

// A payload beyond it is no generated code of a model that anybody compiles; the rest of it is passed over.
constexpr size_t kPayloadMax = size_t{256} << 20;

std::string string_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

int64_t integer_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : -1;
}

using Strings = std::map<int64_t, std::string>;

std::vector<TraceFrame> frames_of(const json& object, const char* key, const Strings& strings) {
  std::vector<TraceFrame> out;
  const auto at = object.find(key);
  if (at == object.end() || !at->is_array()) return out;
  for (const json& one : *at) {
    if (!one.is_object()) continue;
    TraceFrame frame{"", integer_of(one, "line"), string_of(one, "name"), string_of(one, "loc")};
    if (const auto name = strings.find(integer_of(one, "filename")); name != strings.end()) frame.file = name->second;
    out.push_back(std::move(frame));
  }
  return out;
}

std::optional<TraceRecord> sized(Kind kind, const json& body, const Strings& strings) {
  TraceRecord out;
  out.kind = kind;
  out.symbol = string_of(body, "symbol");
  out.range = string_of(body, "vr");
  out.value = string_of(body, kind == Kind::kSymbol ? "val" : "value");
  out.reason = string_of(body, "reason");
  out.text = string_of(body, kind == Kind::kSymbol || kind == Kind::kSource ? "source" : "expr");
  if (const auto sources = body.find("sources");
      sources != body.end() && sources->is_array() && !sources->empty() && sources->front().is_string())
    out.text = sources->front().get<std::string>();
  out.user_stack = frames_of(body, "user_stack", strings);
  out.stack = frames_of(body, "stack", strings);
  return out;
}

std::optional<TraceRecord> named(const std::string& name) {
  static const std::map<std::string, Kind> kKinds = {
      {"before_pre_grad_graph", Kind::kGraph},
      {"inductor_post_grad_graph", Kind::kGraph},
      {"inductor_aot_wrapper_code", Kind::kWrapperCode},
      {"inductor_aot_kernel_code", Kind::kKernelCode},
      {"inductor_provenance_tracking_kernel_stack_traces", Kind::kKernelStacks},
      {"torch_version", Kind::kVersion},
  };
  const auto kind = kKinds.find(name);
  if (kind == kKinds.end()) return std::nullopt;
  TraceRecord out;
  out.kind = kind->second;
  out.name = name;
  return out;
}

/// What an entry says, where it is of interest here. `strings` gets the names of files.
std::optional<TraceRecord> read_entry(const json& entry, Strings* strings) {
  static const std::map<std::string, Kind> kKinds = {
      {"describe_source", Kind::kSource},
      {"create_symbol", Kind::kSymbol},
      {"create_unbacked_symbol", Kind::kUnbackedSymbol},
      {"guard_added", Kind::kGuard},
      {"guard_added_fast", Kind::kGuard},
      {"symbolic_shape_specialization", Kind::kSpecialisation},
      {"guard_on_data_dependent_error", Kind::kDataDependent},
      {"propagate_real_tensors_provenance", Kind::kDataDependent},
  };
  for (const auto& [key, body] : entry.items()) {
    if (key == "str" && body.is_array() && body.size() == 2 && body[0].is_string() && body[1].is_number_integer()) {
      strings->insert_or_assign(body[1].get<int64_t>(), body[0].get<std::string>());
      return std::nullopt;
    }
    if (!body.is_object()) continue;
    if (const auto kind = kKinds.find(key); kind != kKinds.end()) return sized(kind->second, body, *strings);
    if (key != "artifact" && key != "graph_dump") continue;
    auto out = named(string_of(body, "name"));
    if (out && key == "graph_dump") out->name = string_of(body, "filename");
    return out;
  }
  return std::nullopt;
}

/// The JSON of "V1201 03:30:15.900000 17500 /x/torch/fx/a.py:12] {...}"; nullopt: it is no such line. `file` gets the
/// path before it.
std::optional<std::string_view> after_prefix(std::string_view line, std::string_view* file) {
  if (line.empty() || std::string_view("VDIWEC").find(line[0]) == std::string_view::npos) return std::nullopt;
  const size_t end = line.find("] {");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view prefix = line.substr(0, end);
  const size_t slash = prefix.find(" /") != std::string_view::npos ? prefix.find(" /") + 1 : prefix.rfind(' ') + 1;
  *file = prefix.substr(slash);
  return line.substr(end + 2);
}

/// The folder of torch, of a path of a file that torch has and nobody else.
void add_torch_folder(std::string_view path, TorchFolders& out) {
  for (const std::string_view own : {"_logging/_internal.py", "_logging/structured.py", "_subclasses/meta_utils.py",
                                     "fx/experimental/symbolic_shapes.py", "_inductor/compile_fx.py"}) {
    if (!path.ends_with(own) || !path.substr(0, path.size() - own.size()).ends_with("/torch/")) continue;
    std::string folder(path.substr(0, path.size() - own.size()));
    if (std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(std::move(folder));
  }
}

bool is_in_torch(const TraceFrame& frame, const TorchFolders& torch, std::string_view below = "") {
  return std::any_of(torch.begin(), torch.end(), [&](const std::string& folder) {
    return frame.file.starts_with(folder) && std::string_view(frame.file).substr(folder.size()).starts_with(below);
  });
}

std::vector<std::string> logs_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const bool raw = name.ends_with(".log") && (name.starts_with("dedicated_log_torch_trace") || name == "raw.log");
    if (raw && entry.is_regular_file()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

constexpr const char* kMakeOne =
    "give the folder of `TORCH_TRACE=FOLDER python compile.py`, or what `tlparse` wrote of it";

}  // namespace

TraceLog read_trace_log(std::istream& in) {
  TraceLog log;
  Strings strings;
  TraceRecord* open = nullptr;  // gets the payload lines that follow
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('\t')) {
      if (!open || open->payload.size() + line.size() > kPayloadMax) continue;
      open->payload_cut = false;
      open->payload.append(line, 1).push_back('\n');
      continue;
    }
    open = nullptr;
    ++log.lines;
    std::string_view file;
    const std::optional<std::string_view> text = after_prefix(line, &file);
    const json entry = text ? json::parse(*text, nullptr, false) : json(json::value_t::discarded);
    if (!entry.is_object()) {
      ++log.unreadable;
      continue;
    }
    add_torch_folder(file, log.torch);
    std::optional<TraceRecord> record = read_entry(entry, &strings);
    if (const auto name = entry.find("str"); name != entry.end() && name->is_array() && !name->empty())
      if (const json& path = name->front(); path.is_string()) add_torch_folder(path.get<std::string>(), log.torch);
    if (!record) continue;
    record->payload_cut = entry.contains("has_payload");
    log.records.push_back(std::move(*record));
    if (log.records.back().payload_cut) open = &log.records.back();
  }
  return log;
}

std::vector<TraceLog> read_trace_folder(const std::string& path) {
  std::error_code none;
  const bool folder = fs::is_directory(path, none);
  if (!folder && !fs::is_regular_file(path, none))
    throw HarnessError("there is no such compile-time trace", "--trace " + path, kMakeOne);
  std::vector<std::string> files;
  try {
    files = folder ? logs_in(path) : std::vector<std::string>{path};
  } catch (const fs::filesystem_error& error) {
    throw HarnessError("the folder cannot be read: " + error.code().message(), "--trace " + path, kMakeOne);
  }
  if (files.empty() && fs::exists(path + "/compile_directory.json", none))
    throw HarnessError("this output of tlparse lacks raw.log, which has the guards and symbols", "--trace " + path,
                       "give the folder that TORCH_TRACE named, or run tlparse on it again");
  if (files.empty())
    throw HarnessError(
        fs::is_empty(path, none) ? "the folder is empty" : "the folder holds no log of TORCH_TRACE and no raw.log",
        "--trace " + path, kMakeOne);
  std::vector<TraceLog> out;
  size_t lines = 0, unreadable = 0;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw HarnessError("the log cannot be read", file, "check its rights");
    out.push_back(read_trace_log(in));
    out.back().path = file;
    lines += out.back().lines;
    unreadable += out.back().unreadable;
  }
  if (lines == 0)
    throw HarnessError("the trace is empty", "--trace " + path,
                       "set TORCH_TRACE before Python starts, and compile in that process");
  if (lines == unreadable)
    throw HarnessError("none of its " + std::to_string(lines) + " lines is an entry of a TORCH_TRACE log",
                       "--trace " + path, kMakeOne);
  return out;
}

bool is_library_frame(const TraceFrame& frame, const TorchFolders& torch) {
  if (frame.file.empty() || frame.file[0] == '<') return true;
  if (is_in_torch(frame, torch)) return true;
  const bool installed =
      frame.file.find("site-packages/") != std::string::npos || frame.file.find("dist-packages/") != std::string::npos;
  return !installed && frame.file.find("/lib/python3.") != std::string::npos;
}

const TraceFrame* model_frame(const TraceRecord& record, const TorchFolders& torch) {
  for (auto frame = record.user_stack.rbegin(); frame != record.user_stack.rend(); ++frame)
    if (!is_library_frame(*frame, torch)) return &*frame;
  // The frames of an export: the caller's, torch's, the model's, torch's. While inductor compiles, the model does not
  // run.
  if (is_of_compiler(record, torch)) return nullptr;
  const auto first = std::find_if(record.stack.begin(), record.stack.end(),
                                  [&](const TraceFrame& frame) { return is_in_torch(frame, torch); });
  for (auto frame = record.stack.end(); frame != first;)
    if (!is_library_frame(*--frame, torch)) return &*frame;
  return nullptr;
}

bool is_of_compiler(const TraceRecord& record, const TorchFolders& torch) {
  return std::any_of(record.stack.begin(), record.stack.end(),
                     [&](const TraceFrame& frame) { return is_in_torch(frame, torch, "_inductor/"); });
}

std::string frame_text(const TraceFrame& frame) {
  std::string out = frame.file.substr(frame.file.rfind('/') + 1) + ":" + std::to_string(frame.line);
  const size_t begin = frame.code.find_first_not_of(" \t");
  if (begin != std::string::npos)
    out += ": " + frame.code.substr(begin, frame.code.find_last_not_of(" \t") - begin + 1);
  return out;
}

}  // namespace aotifuzz
